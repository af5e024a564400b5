/* ydf-training, the gradient boosting of npm, on the same rows: undefined where it is not installed, or throws. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export async function loadPeer() {
  try {
    return await require('ydf-training')({ print: () => {}, printErr: () => {} });
  } catch {
    return undefined;
  }
}

const quote = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
// Plain "c12" for names and "k…" for labels: the peer reads numbers and booleans into labels of its own.
function toCsv(features, rows, labels) {
  const header = features.map((_, i) => `c${i}`).concat(labels ? ['target'] : []);
  const lines = rows.map((row, i) => {
    const cells = features.map((f) => {
      if (f.kind === 'text') {
        return f.codes[row] < 0 ? '' : quote(f.dictionary[f.codes[row]]);
      }
      return Number.isNaN(f.values[row]) ? '' : String(f.values[row]);
    });
    if (labels) {
      cells.push(labels[i]);
    }
    return cells.join(',');
  });
  return [header.join(','), ...lines].join('\n') + '\n';
}

export function runPeer(ydf, table, train, test) {
  try {
    const regression = table.task === 'regression';
    const labels = train.map((row) => (regression ? String(table.values[row]) : `k${table.codes[row]}`));
    const trainCsv = toCsv(table.features, train, labels);
    // It refuses a test file without a target column; its values are not read.
    const testCsv = toCsv(
      table.features,
      test,
      test.map(() => labels[0]),
    );
    const started = process.cpuUsage();
    const learner = new ydf.GradientBoostedTreesLearner(
      'target',
      regression ? 'REGRESSION' : 'CLASSIFICATION',
    );
    const model = learner.train(trainCsv);
    const seconds = process.cpuUsage(started).user / 1e6;
    const predictions = model.predict(testCsv);
    const known = model.getLabelClasses();
    model.unload();
    if (regression) {
      return { seconds, mean: Float64Array.from(predictions) };
    }
    const count = table.classes.length;
    const probas = new Float64Array(test.length * count);
    const of = known.map((name) => Number(name.slice(1)));
    test.forEach((_, row) => {
      if (predictions.length === test.length) {
        probas[row * count + of[1]] = predictions[row];
        probas[row * count + of[0]] = 1 - predictions[row];
      } else {
        of.forEach((k, i) => (probas[row * count + k] = predictions[row * of.length + i]));
      }
    });
    return { seconds, probas };
  } catch (error) {
    return { error: String(error?.message ?? error).split('\n')[0] };
  }
}
