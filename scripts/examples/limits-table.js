// 60 rows; the last of msg.columns columns is the sum of the first two.
const rows = [];
for (let i = 0; i < 60; i++) {
  const row = {};
  for (let c = 0; c < msg.columns - 1; c++) {
    row[`c${c}`] = (i * (c + 3)) % 17;
  }
  row.sum = row.c0 + row.c1;
  rows.push(row);
}
msg.payload = rows;
return msg;
