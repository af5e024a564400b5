// Parts of a press are inspected: most are good, some are faulty. What makes them so is known here only; chance has its
// share. The tool wears from week to week, which no column shows.
const WEEK = { past: 0, 'last week': 1 }[msg.topic] ?? 0;
const COUNT = WEEK === 0 ? 900 : 800;
const MINUTES = WEEK === 0 ? 60 : 12;
const DAY = 86_400_000;
const monday = Math.floor(Date.now() / DAY) * DAY - 7 * DAY;
const begin = WEEK === 0 ? monday - COUNT * MINUTES * 60_000 : monday;

let seed = 7 + WEEK;
const random = () => {
  // mulberry32: the same seed gives the same parts on every computer
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};
const between = (low, high) => Math.round((low + (high - low) * random()) * 10) / 10;

msg.payload = Array.from({ length: COUNT }, (_, i) => {
  const part = {
    time: new Date(begin + i * MINUTES * 60_000),
    pressure_bar: between(140, 200),
    oil_c: between(35, 75),
    thickness_mm: between(1.8, 2.2),
    steel: ['A', 'B', 'C'][Math.floor(random() * 3)],
  };
  const strain =
    (170 - part.pressure_bar) / 12 +
    (part.oil_c - 60) / 8 +
    9 * (part.thickness_mm - 2) +
    (part.steel === 'C' ? 1.2 : 0);
  const wear = WEEK === 0 ? 0 : (2 * i) / COUNT;
  part.quality = random() < 1 / (1 + Math.exp(1.6 - 1.3 * strain - wear)) ? 'faulty' : 'good';
  return part;
});
return msg;
