/*
 * A simulated motor of the fleet, one of many that differ: MACHINE of this flow says which. "history" answers with its
 * readings of the last ten minutes as one table, every other message with its reading of now. The reading of a second is
 * the same however often it is asked for, so a motor that comes back has the past that it had.
 */
const STEP_MS = 1000;
const HISTORY = 600;
/** Steps after which nothing is left of the temperature that it began with. */
const WARM_UP = 600;
const machine = env.get('MACHINE');

/** From 0 to below 1: the same for a text on every computer. */
function chance(text) {
  let mixed = 0x811c9dc5;
  for (const letter of text) {
    mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193);
  }
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

const cooling = 0.8 + 0.4 * chance(`${machine} cooling`);
const phase = Math.floor(90 * chance(`${machine} phase`));

/** The reading of a step, and the temperature after it. The load is another every ninety steps. */
function step(number, heat) {
  const draw = (what, every) => chance(`${machine} ${what} ${Math.floor((number + phase) / every)}`);
  const load = 20 + 80 * draw('load', 90);
  const ambient = 18 + 8 * Math.sin((2 * Math.PI * number) / 3600);
  const after = heat + (ambient + (0.75 * load) / cooling - heat) / 45;
  return {
    heat: after,
    reading: {
      time: number * STEP_MS,
      load_percent: Math.round(load),
      ambient_c: Number(ambient.toFixed(1)),
      vibration_mms: Number((0.8 + 0.02 * load + 0.2 * draw('vibration', 1)).toFixed(2)),
      motor_c: Number((after + 0.3 * draw('noise', 1)).toFixed(1)),
    },
  };
}

const now = Math.floor(Date.now() / STEP_MS);
let { last, heat } = context.get('motor') ?? { last: now - HISTORY - WARM_UP, heat: 50 };
const readings = [];
while (last < now) {
  last += 1;
  const made = step(last, heat);
  heat = made.heat;
  readings.push(made.reading);
}
context.set('motor', { last, heat });
if (readings.length === 0) {
  return null;
}
return { payload: msg.topic === 'history' ? readings.slice(-HISTORY) : readings.at(-1) };
