/*
 * The way of one message through the code: the files and functions of the package that the main thread enters, counted
 * by V8's coverage, from the node's input to its output, with the embedded service at the other end of real HTTP.
 * npm run bench -- path [predict|fit]
 */
import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { row, startBench, stopBench, trainRows } from '../../test/nodes/bench';
import { stopSharedService } from '../../test/service/shared';

const RUNS = 5;
const DIST = path.join(path.resolve(__dirname, '../..'), 'dist', path.sep);

/** file → functions that were called, each with the line where it begins, in each run the same but for timers: the larger of the runs is told. */
type Path = Map<string, string[]>;

const functionsIn = (entered: Path): number => [...entered.values()].flat().length;

/** The lines of the source by offsets in a file of dist/. */
function lineFinder(file: string): (offset: number) => number {
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload);
  const text = readFileSync(file, 'utf8');
  return (offset) => {
    const before = text.slice(0, offset).split('\n');
    const { originalLine = 0 } = map.findEntry(before.length - 1, before.at(-1)!.length) as {
      originalLine?: number;
    };
    return originalLine + 1;
  };
}

function pathOf(coverage: Profiler.ScriptCoverage[]): Path {
  const entered: Path = new Map();
  for (const { url, functions } of coverage) {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    // What begins with the file is its top level.
    const called = functions.filter(({ ranges: [range] }) => range!.count > 0 && range!.startOffset > 0);
    if (file.startsWith(DIST) && called.length > 0) {
      const lineAt = lineFinder(file);
      entered.set(
        file.slice(DIST.length).replaceAll(path.sep, '/').replace(/\.js$/, '.ts'),
        called.map(
          ({ functionName, ranges: [range] }) => `${functionName || '(arrow)'} ${lineAt(range!.startOffset)}`,
        ),
      );
    }
  }
  return entered;
}

/** The path of a message that a node takes: what ran while `send` was under way. */
async function followed(session: Session, send: () => Promise<unknown>): Promise<Path> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await send();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  return pathOf(result);
}

async function main(what = 'predict'): Promise<void> {
  const few = { options: '{"n_estimators":1}' };
  const bench = await startBench({
    config: { service: 'embedded' },
    nodes: [
      { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', ...few },
      { id: 'predict', type: 'tabular-predict', model: 'm' },
    ],
  });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const sent = { fit: 0, predict: 0 };
  const through = async (id: 'fit' | 'predict', payload: unknown): Promise<void> => {
    bench.send(id, { payload });
    await bench.out(id).first(++sent[id], 60_000);
  };
  // What is loaded or asked once, as the limits, is no part of a message's way.
  await through('fit', trainRows(200));
  await through('predict', row(1));
  await through('predict', row(2));

  let longest: Path = new Map();
  for (let run = 0; run < RUNS; run++) {
    const payload = what === 'fit' ? trainRows(200).map((one) => ({ ...one, extra: run })) : row(run + 3);
    const entered = await followed(session, () => through(what === 'fit' ? 'fit' : 'predict', payload));
    longest = functionsIn(entered) > functionsIn(longest) ? entered : longest;
  }
  for (const [file, functions] of [...longest].sort()) {
    console.log(`${file}: ${functions.join(', ')}`);
  }
  console.log(`${what}: ${longest.size} files, ${functionsIn(longest)} functions`);
  session.disconnect();
  await stopBench();
  await stopSharedService();
}

void main(process.argv[2]);
