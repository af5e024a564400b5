/* Figures of a prediction on rows held back. */

const LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

export function measure(table, result, target) {
  return table.task === 'regression'
    ? regression(result, target.values)
    : classification(table, result, target.codes);
}

function classification(table, { probas }, codes) {
  const count = table.classes.length;
  let right = 0;
  let loss = 0;
  let [found, claimed, present] = [0, 0, 0];
  const positive = table.positive === undefined ? -1 : table.classes.indexOf(table.positive);
  const confidences = new Float64Array(codes.length);
  const hits = new Uint8Array(codes.length);
  codes.forEach((code, row) => {
    const p = probas.subarray(row * count, (row + 1) * count);
    const best = p.indexOf(Math.max(...p));
    if (best === code) {
      right++;
    }
    loss -= Math.log(Math.max(p[code], 1e-15));
    if (best === positive) {
      claimed++;
    }
    if (code === positive) {
      present++;
    }
    if (best === positive && code === positive) {
      found++;
    }
    confidences[row] = p[best];
    hits[row] = best === code ? 1 : 0;
  });
  const rows = codes.length;
  const figures = { logloss: loss / rows, accuracy: right / rows };
  figures.ece = calibrationError(confidences, hits);
  figures.floor = perfectError(confidences);
  if (positive >= 0) {
    figures.recall = found / present;
    figures.precision = claimed > 0 ? found / claimed : 0;
  }
  return figures;
}

/** Expected calibration error over ten bins of equal width. */
export function calibrationError(confidences, hits) {
  const gaps = new Float64Array(10);
  confidences.forEach((p, row) => (gaps[Math.min(9, Math.floor(p * 10))] += p - hits[row]));
  return gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / confidences.length;
}

/**
 * The error that a perfectly calibrated model of these confidences would show on as many rows by chance alone: the
 * mean over 200 draws of which rows it gets right.
 */
function perfectError(confidences) {
  let state = 12345;
  const uniform = () => (state = Math.imul(state, 48271) >>> 0) / 4294967296;
  let sum = 0;
  for (let draw = 0; draw < 200; draw++) {
    sum += calibrationError(
      confidences,
      confidences.map((p) => (uniform() < p ? 1 : 0)),
    );
  }
  return sum / 200;
}

function regression(result, actual) {
  const mean = typeof result.mean === 'function' ? result.mean() : result.mean;
  const quantiles = result.quantiles?.(LEVELS);
  const rows = actual.length;
  let [squares, pinball, covered] = [0, 0, 0];
  actual.forEach((value, row) => {
    squares += (mean[row] - value) ** 2;
    if (!quantiles) {
      return;
    }
    LEVELS.forEach((level, q) => {
      const above = value - quantiles[q][row];
      pinball += (above > 0 ? above * level : above * (level - 1)) / LEVELS.length;
    });
    if (value >= quantiles[0][row] && value <= quantiles[8][row]) {
      covered++;
    }
  });
  if (!quantiles) {
    return { rmse: Math.sqrt(squares / rows) };
  }
  return { rmse: Math.sqrt(squares / rows), pinball: pinball / rows, coverage: covered / rows };
}
