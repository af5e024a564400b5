/*
 * A simulated compressor, a reading every five minutes of its own time: its load goes up and down, and with it how
 * hot its oil is. When its cooler clogs, the same load makes the oil hotter; no sensor shows that. "history" answers
 * with the readings of the last days as one table, "clog" and "clean" change the cooler, every other message brings the
 * next half hour, a message for each reading.
 */
const EVERY = 5 * 60000;
/** When its clock begins: half an hour of it is a second of ours, and its readings may not be from the future. */
const BEGIN = Date.UTC(2020, 0, 1);
/** After so many live readings the cooler clogs by itself. */
const CLOGS_AT = 240;

function uniform(machine) {
  // mulberry32: the same seed gives the same machine on every computer
  machine.seed = (machine.seed + 0x6d2b79f5) | 0;
  let t = Math.imul(machine.seed ^ (machine.seed >>> 15), 1 | machine.seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function next(machine) {
  machine.count += 1;
  machine.since += 1;
  // Forty minutes of full load, twenty of half, now and then a little longer.
  if (machine.since > (machine.isFull ? 8 : 4) && uniform(machine) < 0.8) {
    machine.isFull = !machine.isFull;
    machine.since = 0;
  }
  const load = (machine.isFull ? 90 : 45) + 4 * (uniform(machine) - 0.5);
  // The cooler clogs, or gets clean, within a few hours.
  machine.clogged += 0.05 * ((machine.isClogged ? 1 : 0) - machine.clogged);
  const room = 22 + 4 * Math.sin((2 * Math.PI * machine.count) / 288) + 0.4 * (uniform(machine) - 0.5);
  const goal = room + load * (0.5 + 0.3 * machine.clogged);
  machine.oil += 0.2 * (goal - machine.oil) + 0.8 * (uniform(machine) - 0.5);
  return {
    time: BEGIN + EVERY * machine.count,
    load: Number(load.toFixed(1)),
    room_c: Number(room.toFixed(1)),
    oil_c: Number((machine.oil + 0.6 * (uniform(machine) - 0.5)).toFixed(1)),
  };
}

if (msg.topic === 'history') {
  // What was kept of another run is of another machine.
  node.send({ reset: true });
  const machine = { seed: 11, count: 0, since: 0, isFull: true, oil: 60, clogged: 0, isClogged: false };
  const payload = Array.from({ length: 500 }, () => next(machine));
  machine.clogsAt = machine.count + CLOGS_AT;
  context.set('machine', machine);
  return { payload };
}
const machine = context.get('machine');
if (!machine) {
  return null;
}
if (msg.topic === 'clog' || msg.topic === 'clean') {
  machine.isClogged = msg.topic === 'clog';
  machine.clogsAt = undefined;
  return null;
}
if (machine.count >= machine.clogsAt) {
  machine.isClogged = true;
}
node.status({
  fill: machine.isClogged ? 'yellow' : 'green',
  shape: 'dot',
  text: machine.isClogged ? 'clogged' : 'clean',
});
return [Array.from({ length: 6 }, () => ({ payload: next(machine) }))];
