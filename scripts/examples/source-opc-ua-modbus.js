/*
 * A simulated motor behind an OPC UA server, as a subscription of node-red-contrib-opcua tells of it: a message for each
 * value, with the node in its topic and its times and status beside. And a pump whose registers node-red-contrib-modbus
 * reads. "past" brings values of the last hours; of the pump, which tells no time, as rows of a historian.
 */
const STEP = 60_000;
const now = Date.now();
/* The machines begin with the first message: what is learned is the same at any time of day. */
const origin = context.get('origin') ?? now;
context.set('origin', origin);
const good = { _value: 0, _name: 'Good', _description: 'The operation succeeded.' };

/* From -1 to 1. */
const noise = (time) => (Math.sin(((time - origin) / 60_000) * 12.9898) * 43758.5453) % 1;

function motor(time) {
  const hour = (2 * Math.PI * (time - origin)) / 3_600_000;
  const Speed = Math.round(1480 + 120 * Math.sin(hour));
  const Temperature = Number((55 + 8 * Math.sin(hour - 0.7) + noise(time)).toFixed(1));
  return Object.entries({ Speed, Temperature }).map(([name, payload]) => ({
    topic: `ns=2;s=Line1/Motor1/${name}`,
    payload,
    statusCode: good,
    sourceTimestamp: new Date(time).toISOString(),
    serverTimestamp: new Date(time + 5).toISOString(),
  }));
}

function pump(time) {
  const hour = (2 * Math.PI * (time - origin)) / 3_600_000;
  return [
    Math.round(400 + 60 * Math.sin(hour) + 3 * noise(time + 1)),
    Math.round(250 + 30 * Math.sin(hour - 1) + 2 * noise(time)),
    1,
  ];
}

if (msg.topic === 'past') {
  const times = Array.from({ length: 300 }, (_, i) => now - (300 - i) * STEP);
  const rows = times.map((time) => {
    const [pressure, flow, running] = pump(time);
    return { time, pressure, flow, running };
  });
  return [times.flatMap(motor), { payload: rows }];
}
const registers = pump(now);
const input = { topic: 'polling', payload: { unitid: '1', fc: 3, address: '0', quantity: '3' } };
return [motor(now), { topic: 'polling', payload: registers, responseBuffer: { data: registers }, input }];
