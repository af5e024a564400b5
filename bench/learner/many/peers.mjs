/*
 * What other learners say about a split: single models of scikit-learn and XGBoost by peers.py. With `more` also XGBoost
 * tuned, ydf-training, and the mean of all that were asked.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { loadPeer, runPeer } from '../peer.mjs';

export async function startPeers({ more }) {
  const child = spawn(process.env.PYTHON ?? 'python3', [path.join(import.meta.dirname, 'peers.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TUNED: more ? '1' : '' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ydf = more ? await loadPeer() : undefined;
  return {
    /** One split at a time. By model: {seconds, mean | probas} or {error}. */
    async ask(table, { train, test }) {
      child.stdin.write(`${JSON.stringify(questionOf(table, train, test))}\n`);
      const { value } = await lines.next();
      const answers = JSON.parse(value);
      for (const answer of Object.values(answers)) {
        answer.probas &&= Float64Array.from(answer.probas);
      }
      if (ydf) {
        answers.ydf = runPeer(ydf, table, train, test);
      }
      if (more) {
        answers.blend = blend(Object.values(answers));
      }
      return answers;
    },
    end: () => child.stdin.end(),
  };
}

function questionOf(table, train, test) {
  const columns = (rows) =>
    table.features.map((feature) =>
      rows.map((row) => {
        const value = feature.kind === 'text' ? feature.codes[row] : feature.values[row];
        return Number.isFinite(value) ? value : null;
      }),
    );
  return {
    task: table.task,
    count: table.classes?.length ?? 0,
    kinds: table.features.map(({ kind }) => kind),
    train: { columns: columns(train), target: train.map((row) => (table.codes ?? table.values)[row]) },
    test: { columns: columns(test) },
  };
}

/** The mean of what models say. */
function blend(answers) {
  const said = answers.filter(({ error }) => error === undefined);
  const mean = (what) =>
    said[0][what] &&
    Float64Array.from(said[0][what], (_, i) => sum(said, (one) => one[what][i]) / said.length);
  return { seconds: sum(said, ({ seconds }) => seconds), mean: mean('mean'), probas: mean('probas') };
}

const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);
