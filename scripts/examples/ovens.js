// "Train": a labelled past as one table. Anything else: what two ovens would publish now.
if (msg.topic === 'Train') {
  const rows = [];
  for (let i = 0; i < 300; i++) {
    const row = {
      oven: `oven${1 + (i % 3)}`,
      temperature: 180 + ((i * 37) % 80),
      humidity: 20 + ((i * 53) % 60),
    };
    row.quality = row.temperature > 235 ? 'burnt' : row.humidity > 60 ? 'moist' : 'good';
    rows.push(row);
  }
  return [{ payload: rows }, null];
}
const readings = [
  { oven: 'oven1', temperature: 200, humidity: 35 },
  { oven: 'oven2', temperature: 252, humidity: 40 },
];
return [null, readings.map((payload) => ({ topic: `plant/${payload.oven}/reading`, payload }))];
