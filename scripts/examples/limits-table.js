// 60 rows; the last of msg.columns columns is nearly the sum of the first two.
const rows = [];
for (let i = 0; i < 60; i++) {
  const row = {};
  for (let c = 0; c < msg.columns - 1; c++) {
    row[`c${c}`] = Math.round(1000 * Math.random()) / 10;
  }
  row.sum = Math.round(row.c0 + row.c1 + 10 * Math.random());
  rows.push(row);
}
msg.payload = rows;
return msg;
