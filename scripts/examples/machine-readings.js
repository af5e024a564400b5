// The key makes a reading known: whoever gets it twice can tell.
const run = Date.now();
return [
  Array.from({ length: 100 }, (_, i) => ({
    payload: {
      key: `${run}/${i}`,
      values: { temperature: 20 + ((i * 41) % 80), vibration: ((i * 59) % 60) / 10, material: 'brass' },
    },
  })),
];
