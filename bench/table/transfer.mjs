import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const at = (name) => new URL(name, import.meta.url);

/** Runs a script in a process of its own; answers what it sends. */
async function asked(script, args, execArgv = []) {
  const child = fork(at(script), args, { execArgv });
  let answer;
  child.on('message', (message) => (answer = message));
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    throw new Error(`${script} ended with code ${code}`);
  }
  return answer;
}

/** Seconds that a command takes. */
async function timed(command, args) {
  const start = performance.now();
  const [code] = await once(spawn(command, args, { stdio: 'ignore' }), 'exit');
  if (code !== 0) {
    throw new Error(`${command} ended with code ${code}`);
  }
  return (performance.now() - start) / 1000;
}

const line = (...cells) => console.log(`| ${cells.join(' | ')} |`);

/** Seconds of `curl -T` and of ours for the same file and sink, turn and turn about, the best of some rounds. */
async function uploads(file, address, rounds) {
  let curl = Infinity;
  let ours;
  for (let round = 0; round < rounds; round++) {
    curl = Math.min(curl, await timed('curl', ['-sS', '-f', '-T', file, `${address}/signed/curl`]));
    const own = await asked('one-transfer.mjs', ['upload', file, address], ['--expose-gc']);
    if (ours === undefined || own.seconds < ours.seconds) {
      ours = own;
    }
  }
  return { curl, ours };
}

/** Takes uploads in a process of its own, as fast as it can or at a given number of MB a second. */
async function sinkOf(megabytesPerSecond) {
  const sink = fork(at('sink.mjs'), megabytesPerSecond === undefined ? [] : [String(megabytesPerSecond)]);
  const [address] = await once(sink, 'message');
  return { address, end: () => sink.kill() };
}

/** A big Parquet file as a test set beside `curl -T` and `cp`, also over a slower network; then a train set from a CSV file. */
export async function transfers({ parquetBytes, csvBytes }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-transfer-'));
  const sink = await sinkOf();
  const gigabit = await sinkOf(125);
  try {
    const file = path.join(folder, 'test.parquet');
    await asked('make-file.mjs', [file, String(parquetBytes)]);
    const { size } = statSync(file);
    console.log(`\nParquet file of ${(size / 1e9).toFixed(2)} GB as a test set, hash included\n`);
    line('what', 'seconds', 'MB/s', 'share of curl', 'MB above idle', 'loop max ms', 'loop p99 ms');
    line(...'-------'.split('').map((dash) => dash.repeat(3)));
    const copy = path.join(folder, 'copy');
    const cp = await timed('cp', [file, copy]);
    rmSync(copy);
    const near = await uploads(file, sink.address, 2);
    const far = await uploads(file, gigabit.address, 1);
    const row = (name, seconds, curl, ...rest) =>
      line(name, seconds.toFixed(2), (size / 1e6 / seconds).toFixed(0), (curl / seconds).toFixed(2), ...rest);
    row('ours', near.ours.seconds, near.curl, ...figures(near.ours));
    row('curl -T', near.curl, near.curl, '', '', '');
    row('cp, to the same disk', cp, near.curl, '', '', '');
    row('ours, at 1 Gbit/s', far.ours.seconds, far.curl, ...figures(far.ours));
    row('curl -T, at 1 Gbit/s', far.curl, far.curl, '', '', '');
    rmSync(file);

    const csv = path.join(folder, 'train.csv');
    await asked('make-file.mjs', [csv, String(csvBytes)]);
    const text = statSync(csv).size;
    console.log(`\nTrain set from a CSV file of ${(text / 1e9).toFixed(2)} GB: types, X and y, upload\n`);
    line('what', 'seconds', 'MB/s of CSV', 'MB sent', 'MB above idle', 'loop max ms', 'loop p99 ms');
    line(...'-------'.split('').map((dash) => dash.repeat(3)));
    const train = await asked('one-transfer.mjs', ['train', csv, sink.address], ['--expose-gc']);
    const { seconds, bytes } = train;
    line(
      'ours',
      seconds.toFixed(1),
      (text / 1e6 / seconds).toFixed(0),
      (bytes / 1e6).toFixed(0),
      ...figures(train),
    );
  } finally {
    sink.end();
    gigabit.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function figures({ above, loopMax, loopP99 }) {
  return [above.toFixed(0), loopMax.toFixed(0), loopP99.toFixed(1)];
}

/** Milliseconds that requiring all eight nodes takes in a fresh process, of seven. */
export function loadTimes() {
  const root = path.resolve(import.meta.dirname, '../..');
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const files = Object.values(manifest['node-red'].nodes).map((file) => path.join(root, file));
  const script = `const start = performance.now();
    for (const file of ${JSON.stringify(files)}) require(file);
    console.log(performance.now() - start);`;
  const times = Array.from({ length: 7 }, () =>
    Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })),
  ).sort((a, b) => a - b);
  console.log('\nLoad time of the package (all nodes, nothing deployed), of seven processes\n');
  line('least ms', 'median ms', 'most ms');
  line('---', '---', '---');
  line(...[0, 3, 6].map((i) => times[i].toFixed(1)));
}
