/*
 * A simulated house with a tariff by the hour. "past" answers with three weeks of its meter, its prices and its weather, as a
 * database has them; "prices" as Tibber does, "weather" as Open-Meteo, "meter" with the hour that has just ended.
 */
const HOUR = 3_600_000;
const now = Math.floor(Date.now() / HOUR) * HOUR;

function known(time) {
  const day = (2 * Math.PI * time) / (24 * HOUR);
  return {
    total: Number((0.28 + 0.08 * Math.sin(2 * day) + 0.04 * Math.sin(day / 2.3)).toFixed(4)),
    temperature_2m: Number((6 - 5 * Math.cos(day) + 4 * Math.sin(day / 5.1)).toFixed(1)),
    cloud_cover: Math.round(50 + 45 * Math.sin(day / 1.7)),
  };
}

function used(time) {
  const { total, temperature_2m } = known(time);
  return Number((3.2 - 0.12 * temperature_2m - 4 * (total - 0.28) + 0.2 * Math.sin(time / HOUR)).toFixed(2));
}

const hours = (from, count) => Array.from({ length: count }, (_, i) => now + (from + i) * HOUR);
if (msg.topic === 'past') {
  const payload = hours(-504, 504).map((time) => ({ time, load_kwh: used(time), ...known(time) }));
  return { payload };
}
if (msg.topic === 'prices') {
  const list = hours(0, 48).map((time) => ({
    total: known(time).total,
    startsAt: new Date(time).toISOString(),
  }));
  return { payload: { currency: 'EUR', today: list.slice(0, 24), tomorrow: list.slice(24) } };
}
if (msg.topic === 'weather') {
  const times = hours(0, 48);
  return {
    payload: {
      latitude: 52.52,
      longitude: 13.42,
      utc_offset_seconds: 0,
      timezone: 'GMT',
      hourly_units: { time: 'iso8601', temperature_2m: '°C', cloud_cover: '%' },
      hourly: {
        time: times.map((time) => new Date(time).toISOString().slice(0, 16)),
        temperature_2m: times.map((time) => known(time).temperature_2m),
        cloud_cover: times.map((time) => known(time).cloud_cover),
      },
    },
  };
}
return { payload: { time: now, load_kwh: used(now) } };
