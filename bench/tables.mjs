/*
 * Objects → Parquet file + CRC32C, 1M rows × 21 mixed columns, beside parquetjs-lite, hyparquet-writer, DuckDB's
 * appender and, where it can be installed, nodejs-polars; a big Parquet file uploaded beside `curl -T` and `cp`; a train set from a big CSV file; the
 * load time of the package: npm run bench -- tables [rows] [name,name]
 * Each runs in a process of its own, on the same rows; times, event-loop delay and peak RSS above the rows.
 * BENCH_UPLOAD_GB (5) and BENCH_CSV_GB (1) set the sizes of the files, which are made in the temporary folder.
 */
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';

import { openResults } from './results.mjs';
import { encoders } from './table/encoders.mjs';
import { loadTimes, transfers } from './table/transfer.mjs';

const rows = Number(process.argv[2] ?? 1_000_000);
const all = ['ours', 'ours-plain', 'duckdb', 'nodejs-polars', 'hyparquet-writer', 'parquetjs-lite'];
const wanted = process.argv[3]?.split(',') ?? all;

/** Why a peer cannot run here. */
function missing(name) {
  if (name !== 'nodejs-polars') {
    return undefined;
  }
  try {
    createRequire(import.meta.url)('nodejs-polars');
    return undefined;
  } catch (error) {
    return `it has no binary here for Node ${process.versions.node} (${error.message.split('\n')[0]})`;
  }
}

const names = wanted.filter((name) => missing(name) === undefined);

function measure(name) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('table/one.mjs', import.meta.url), [name, String(rows)], {
      execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    });
    let result;
    child.on('message', (message) => (result = message));
    child.on('exit', (code) =>
      result ? resolve(result) : reject(new Error(`${name} ended with code ${code}`)),
    );
  });
}

const unknown = names.filter((name) => !Object.hasOwn(encoders, name));
if (unknown.length > 0) {
  throw new Error(`No such encoder: ${unknown.join(', ')}. There are ${Object.keys(encoders).join(', ')}.`);
}

for (const name of wanted.filter((name) => !names.includes(name))) {
  console.log(`${name} is skipped: ${missing(name)}.`);
}
console.log(`${rows} rows x 21 columns, Node ${process.version}, ${process.platform} ${process.arch}\n`);
const results = openResults(import.meta.url);
const table = results.table('encoders', [
  ...['encoder', 'seconds', 'rows/s', 'MB', 'loop max ms', 'loop p99 ms'],
  ...['MB above the rows', 'ours is faster by'],
]);
let ours;
for (const name of names) {
  const { seconds, bytes, loopMax, loopP99, above } = await measure(name);
  ours ??= seconds;
  const cells = [
    name,
    seconds.toFixed(2),
    Math.round(rows / seconds).toLocaleString('en'),
    (bytes / 1e6).toFixed(1),
    loopMax.toFixed(0),
    loopP99.toFixed(1),
    above.toFixed(0),
    `${(seconds / ours).toFixed(2)}×`,
  ];
  table.row(...cells);
}
await results.save();

loadTimes();
await transfers({
  parquetBytes: Number(process.env.BENCH_UPLOAD_GB ?? 5) * 1e9,
  csvBytes: Number(process.env.BENCH_CSV_GB ?? 1) * 1e9,
});
