// A dryer: how good a batch gets, by its settings, the moisture that comes in and the weather.
const between = (low, high) => Math.round(10 * (low + Math.random() * (high - low))) / 10;

const quality = ({ temperature, fan, minutes, moisture, humidity }) => {
  const drying = (temperature - 40) * (0.4 + fan / 120) * minutes * (1.3 - humidity / 120);
  const left = moisture * Math.exp(-drying / 1400);
  const burnt = 0.012 * Math.max(0, temperature - 95) ** 2;
  const luck = 2 * (Math.random() + Math.random() + Math.random() - 1.5);
  return Math.round(10 * (97 - 2.2 * Math.max(0, left - 4) - burnt + luck)) / 10;
};

const batch = () => ({
  temperature: between(60, 120),
  fan: between(20, 100),
  minutes: between(10, 60),
  moisture: between(15, 45),
  humidity: between(20, 80),
});

if (msg.topic === 'past') {
  msg.payload = Array.from({ length: 800 }, batch).map((row) => ({ ...row, quality: quality(row) }));
  return [msg, null];
}
msg.payload = {
  temperature: 100,
  fan: 80,
  minutes: 50,
  moisture: between(25, 35),
  humidity: between(40, 60),
};
return [null, msg];
