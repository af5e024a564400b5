/* scikit-learn's histogram gradient boosting and random forest on the same rows, where PYTHON (python3) has it. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

export const python = process.env.PYTHON ?? 'python3';
const script = path.join(import.meta.dirname, 'sklearn_peer.py');

export function hasSklearn() {
  return spawnSync(python, ['-c', 'import sklearn']).status === 0;
}

export function runSklearn(table, train, test) {
  const regression = table.task === 'regression';
  const columns = (rows) =>
    table.features.map((feature) =>
      rows.map((row) => {
        const value = feature.kind === 'text' ? feature.codes[row] : feature.values[row];
        return Number.isFinite(value) ? value : null;
      }),
    );
  const input = {
    task: table.task,
    count: table.classes?.length ?? 0,
    kinds: table.features.map((feature) => feature.kind),
    train: {
      columns: columns(train),
      target: train.map((row) => (regression ? table.values[row] : table.codes[row])),
    },
    test: { columns: columns(test) },
  };
  const done = spawnSync(python, [script], { input: JSON.stringify(input), maxBuffer: 2 ** 30 });
  if (done.status !== 0) {
    return { error: String(done.stderr).trim().split('\n').at(-1) };
  }
  const answer = JSON.parse(String(done.stdout));
  for (const peer of Object.values(answer)) {
    if (regression) {
      peer.mean = Float64Array.from(peer.mean);
    } else {
      peer.probas = Float64Array.from(peer.probas);
    }
  }
  return answer;
}
