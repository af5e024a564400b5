/*
 * Three simulated devices, as they publish over MQTT: a plug with Tasmota and one of Shelly, and a climate sensor behind
 * Zigbee2MQTT, whose last_seen is switched on. "past" is what a broker would have kept for them during the last hours;
 * every other message is what they publish now.
 */
const STEP = 60_000;
const now = Date.now();
/* The machines begin with the first message: what is learned is the same at any time of day. */
const origin = context.get('origin') ?? now;
context.set('origin', origin);

function published(time) {
  const hour = (2 * Math.PI * (time - origin)) / 3_600_000;
  const power = Math.round(600 + 400 * Math.sin(hour) + 120 * Math.sin(5.3 * hour));
  const warm = Number((21 + 3 * Math.sin(hour / 2) + 0.4 * Math.sin(7 * hour)).toFixed(2));
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  return [
    {
      topic: 'tele/pump1/SENSOR',
      payload: {
        Time: local,
        ENERGY: { Total: 153.3, Power: power, Voltage: 230, Current: Number((power / 230).toFixed(3)) },
        DS18B20: { Id: '01144A0CB2AA', Temperature: Number((warm + power / 50).toFixed(1)) },
        TempUnit: 'C',
      },
    },
    {
      topic: 'shellyplusplugs-a1b2c3/events/rpc',
      payload: {
        src: 'shellyplusplugs-a1b2c3',
        dst: 'shellyplusplugs-a1b2c3/events',
        method: 'NotifyStatus',
        params: {
          ts: time / 1000,
          'switch:0': { id: 0, apower: power / 4, voltage: 231.2, current: Number((power / 920).toFixed(3)) },
        },
      },
    },
    {
      topic: 'zigbee2mqtt/greenhouse',
      payload: {
        battery: 97,
        humidity: Number((90 - 2 * warm).toFixed(1)),
        linkquality: 120,
        temperature: warm,
        last_seen: new Date(time).toISOString(),
      },
    },
  ];
}

const times = msg.topic === 'past' ? Array.from({ length: 300 }, (_, i) => now - (300 - i) * STEP) : [now];
const sent = times.map(published);
return [0, 1, 2].map((device) => sent.map((messages) => messages[device]));
