// Two years of days: how many bicycles were rented. The same days each time, so that a second upload finds the first.
let seed = 11;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const days = [];
for (let i = 0; i < 730; i++) {
  const date = new Date(Date.UTC(2024, 0, 1 + i));
  const season = Math.sin(((i - 105) / 365.25) * 2 * Math.PI);
  const temperature = Math.round(10 * (11 + 10 * season + 6 * (random() - 0.5))) / 10;
  const sky = ['clear', 'cloudy', 'rain'][Math.floor(3 * random())];
  const weekend = date.getUTCDay() % 6 === 0;
  const usual = 400 + 55 * temperature - (sky === 'rain' ? 500 : 0) + (weekend ? 220 : 0);
  days.push({
    day: date.toISOString().slice(0, 10),
    temperature,
    sky,
    weekend,
    rentals: Math.max(0, Math.round(usual + 160 * (random() - 0.5))),
  });
}
msg.payload = days;
return msg;
