/*
 * A simulated compressor, a reading every five minutes of its own time: working hours, three loads, a weekend, weather,
 * oil and housing that warm up slowly. "history" answers with its readings of the last three weeks as one table; the name
 * of a fault begins it, "healthy" ends it; every other message brings the next reading.
 */
const EVERY = 5 * 60000;
/** A Monday, when its clock begins. */
const BEGIN = Date.UTC(2020, 0, 6);
const ROWS_A_DAY = 288;
const FAULTS = ['drift', 'stuck', 'noisy', 'lost', 'dead'];

function uniform(machine) {
  // mulberry32: the same seed gives the same machine on every computer
  machine.seed = (machine.seed + 0x6d2b79f5) | 0;
  let t = Math.imul(machine.seed ^ (machine.seed >>> 15), 1 | machine.seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function noise(machine) {
  return uniform(machine) + uniform(machine) + uniform(machine) - 1.5;
}

function next(machine) {
  const row = machine.count;
  machine.count += 1;
  const hour = ((row % ROWS_A_DAY) / ROWS_A_DAY) * 24;
  const day = Math.floor(row / ROWS_A_DAY) % 7;
  const isOpen = hour >= 6 && hour < 22 && day < 6;
  if (row % 12 === 0) {
    machine.step = Math.floor(uniform(machine) * 3);
  }
  const load = isOpen ? [40, 65, 90][machine.step] + 3 * noise(machine) : 0;
  machine.weather += 0.01 * (6 * noise(machine) - machine.weather);
  const room = 20 + 4 * Math.sin((2 * Math.PI * (hour - 9)) / 24) + machine.weather;
  machine.oil += 0.1 * (room + 0.45 * load - machine.oil);
  machine.housing += 0.04 * (room + 0.3 * load - machine.housing);
  const reading = {
    time: BEGIN + EVERY * row,
    state: isOpen ? 'running' : 'closed',
    load: load + noise(machine),
    oil_c: machine.oil + 0.6 * noise(machine),
    housing_c: machine.housing + 0.4 * noise(machine),
    room_c: room + 0.4 * noise(machine),
    motor_a: (isOpen ? 12 : 1) + 0.55 * load + 0.8 * noise(machine),
    vibration: 0.3 + 0.02 * load + 0.08 * noise(machine),
    pressure_bar: isOpen ? 7 + 0.01 * load + 0.08 * noise(machine) : 0.1 * Math.abs(noise(machine)),
  };
  wrong(machine, reading);
  for (const name of Object.keys(reading)) {
    if (name !== 'time' && name !== 'state') {
      reading[name] = Number(reading[name].toFixed(2));
    }
  }
  machine.past = [...machine.past, reading.motor_a].slice(-ROWS_A_DAY);
  return reading;
}

/** What a fault does to the sensor that it is of. */
function wrong(machine, reading) {
  const rows = machine.count - machine.since;
  switch (machine.fault) {
    case 'drift':
      reading.oil_c += 0.15 * rows;
      break;
    case 'stuck':
      machine.stuck = machine.stuck === undefined ? reading.vibration : machine.stuck;
      reading.vibration = machine.stuck;
      break;
    case 'noisy':
      reading.pressure_bar += 1.2 * noise(machine);
      break;
    case 'lost':
      reading.motor_a = machine.past[Math.floor(uniform(machine) * machine.past.length)];
      break;
    case 'dead':
      reading.housing_c = -20;
      break;
  }
}

if (msg.topic === 'history') {
  // What was kept of another run is of another machine.
  node.send({ reset: true });
  const machine = { seed: 5, count: 0, since: 0, step: 0, weather: 0, oil: 20, housing: 20, past: [] };
  const payload = Array.from({ length: 21 * ROWS_A_DAY }, () => next(machine));
  context.set('machine', machine);
  return { payload };
}
const machine = context.get('machine');
if (!machine) {
  return null;
}
if (msg.topic === 'healthy' || FAULTS.includes(msg.topic)) {
  machine.fault = msg.topic === 'healthy' ? undefined : msg.topic;
  machine.since = machine.count;
  machine.stuck = undefined;
  node.status({
    fill: machine.fault ? 'yellow' : 'green',
    shape: 'dot',
    text: machine.fault ? `fault: ${machine.fault}` : 'healthy',
  });
  return null;
}
return { payload: next(machine) };
