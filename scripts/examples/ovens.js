/*
 * Three simulated ovens. "past" answers with their readings of the last two hours as one table, as a database would;
 * every other message with what their sensors publish now, each value under a topic of its own.
 */
const NAMES = ['oven1', 'oven2', 'oven3'];
const STEP_S = 10;

function random(oven) {
  // mulberry32: the same seed gives the same oven on every computer
  oven.seed = (oven.seed + 0x6d2b79f5) | 0;
  let t = Math.imul(oven.seed ^ (oven.seed >>> 15), 1 | oven.seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function step(oven) {
  if (random(oven) < 0.02) {
    oven.setpoint = 170 + Math.round(90 * random(oven));
  }
  oven.door = oven.door ? random(oven) > 0.4 : random(oven) < 0.03;
  const heat = Math.max(0, Math.min(100, 4 * (oven.setpoint - oven.temperature)));
  oven.heat += 0.2 * (heat - oven.heat);
  const loss = (oven.temperature - 25) * (oven.door ? 0.04 : 0.008);
  oven.temperature += 0.035 * oven.heat - loss + 0.3 * (random(oven) - 0.5);
  return {
    temperature: Number(oven.temperature.toFixed(1)),
    heating: Math.round(oven.heat),
    door: oven.door ? 'open' : 'shut',
  };
}

if (msg.topic === 'past') {
  const ovens = NAMES.map((oven, i) => ({
    oven,
    seed: 11 + i,
    setpoint: 180 + 20 * i,
    temperature: 150,
    heat: 50,
    door: false,
  }));
  const now = Date.now();
  const payload = [];
  for (let ago = 7200; ago > 0; ago -= STEP_S) {
    for (const oven of ovens) {
      payload.push({ oven: oven.oven, time: now - 1000 * ago, ...step(oven) });
    }
  }
  context.set('ovens', ovens);
  return [{ payload }, null];
}

const values = (context.get('ovens') ?? []).flatMap((oven) =>
  Object.entries(step(oven)).map(([sensor, payload]) => ({ topic: `plant/${oven.oven}/${sensor}`, payload })),
);
return [null, values];
