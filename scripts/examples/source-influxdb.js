/*
 * A simulated InfluxDB 2. "past" answers a Flux query as node-red-contrib-influxdb does: a row for each field and time,
 * with its tags. Every other message brings the newest points of the two machines.
 */
const STEP = 60_000;
const now = Date.now();
/* The machines begin with the first message: what is learned is the same at any time of day. */
const origin = context.get('origin') ?? now;
context.set('origin', origin);

function fields(machine, time) {
  const hour = (2 * Math.PI * (time - origin)) / 3_600_000 + machine;
  const vibration = 2 + 0.5 * Math.sin(hour) + 0.1 * Math.sin(13 * hour);
  return {
    vibration: Number(vibration.toFixed(3)),
    temperature: Number((50 + 9 * Math.sin(hour - 0.8)).toFixed(1)),
  };
}

const minutes = msg.topic === 'past' ? 300 : 1;
const begin = now - (minutes - 1) * STEP;
const range = { _start: new Date(begin).toISOString(), _stop: new Date(now).toISOString() };
const rows = [];
for (const field of ['vibration', 'temperature']) {
  for (const machine of [1, 2]) {
    for (let i = 0; i < minutes; i++) {
      const time = begin + i * STEP;
      rows.push({
        result: '_result',
        table: rows.length === 0 ? 0 : rows.at(-1).table + (i === 0 ? 1 : 0),
        ...range,
        _time: new Date(time).toISOString(),
        _value: fields(machine, time)[field],
        _field: field,
        _measurement: 'motor',
        machine: `m${machine}`,
      });
    }
  }
}
return { payload: rows };
