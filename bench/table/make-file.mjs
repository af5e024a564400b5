/* Makes a Parquet or CSV file of at least a number of bytes: node make-file.mjs <path> <bytes> */
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';

const [, , file, size] = process.argv;
const bytes = Number(size);

if (file.endsWith('.parquet')) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const db = await (await DuckDBInstance.create()).connect();
  await db.run("SET memory_limit = '1GB'");
  await db.run('SET preserve_insertion_order = false');
  // Noise does not compress: 20 doubles and a whole number make a row of about 165 bytes.
  const write = async (rows) => {
    const noise = Array.from({ length: 20 }, (_, i) => `random() AS measure_${i}`).join(', ');
    await db.run(
      `COPY (SELECT i AS id, ${noise} FROM range(${rows}) t(i)) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`,
    );
    return statSync(file).size / rows;
  };
  const perRow = await write(200_000);
  await write(Math.ceil((1.002 * bytes) / perRow));
  process.exit(0);
}

const out = createWriteStream(file, { highWaterMark: 1 << 20 });
out.write('id,a,b,c,d,count,site,state,at,note,y\n');
let seed = 42;
const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
for (let written = 0, id = 0; written < bytes;) {
  let text = '';
  for (let i = 0; i < 5000; i++, id++) {
    const a = random();
    const at = new Date(1.7e12 + id * 1000).toISOString();
    text += `${id},${a},${random() * 100},${random()},${random()},${id % 97},site ${id % 5},${a > 0.5 ? 'hot' : 'ok'},${at},"reading ${id}, shift ${id % 3}",${a > 0.3 ? 'yes' : 'no'}\n`;
  }
  written += text.length;
  if (!out.write(text)) {
    await once(out, 'drain');
  }
}
out.end();
await once(out, 'finish');
