/* scikit-learn's histogram gradient boosting and random forest on the same rows, where PYTHON (python3) has it. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

export const python = process.env.PYTHON ?? 'python3';
const script = path.join(import.meta.dirname, 'sklearn_peer.py');

export function hasSklearn() {
  return spawnSync(python, ['-c', 'import sklearn']).status === 0;
}

export function runSklearn(table, train, test) {
  const answer = ask(table, train, test);
  for (const peer of answer.error ? [] : Object.values(answer)) {
    typed(peer, table);
  }
  return answer;
}

/** Processor seconds of histogram boosting on one thread, the lowest of so many: it learns the first `rows`, and predicts the others. */
export function timeSklearn(table, rows, times) {
  const all = Array.from(table.codes ?? table.values, (_, row) => row);
  const { error, ...answer } = ask(table, all.slice(0, rows), all.slice(rows), times);
  if (error) {
    throw new Error(error);
  }
  return typed(answer, table);
}

function typed(peer, { task }) {
  if (task === 'regression') {
    peer.mean = Float64Array.from(peer.mean);
  } else {
    peer.probas = Float64Array.from(peer.probas);
  }
  return peer;
}

function ask(table, train, test, times) {
  const regression = table.task === 'regression';
  const columns = (rows) =>
    table.features.map((feature) =>
      rows.map((row) => {
        const value = feature.kind === 'text' ? feature.codes[row] : feature.values[row];
        return Number.isFinite(value) ? value : null;
      }),
    );
  const input = {
    times,
    task: table.task,
    count: table.classes?.length ?? 0,
    kinds: table.features.map((feature) => feature.kind),
    train: {
      columns: columns(train),
      target: train.map((row) => (regression ? table.values[row] : table.codes[row])),
    },
    test: { columns: columns(test) },
  };
  const done = spawnSync(python, [script], {
    input: JSON.stringify(input),
    maxBuffer: 2 ** 30,
    env: times ? { ...process.env, OMP_NUM_THREADS: '1' } : process.env,
  });
  return done.status === 0
    ? JSON.parse(String(done.stdout))
    : { error: String(done.stderr).trim().split('\n').at(-1) };
}
