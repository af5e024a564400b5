/*
 * The true form of a machine, fitted to its past: what somebody would know of it who lacks nothing but the numbers in its
 * formula. No model that must find the form as well can be expected to come closer.
 */
import { meanOf, normalBelow, normalDensity } from './machines.mjs';

const STEPS = 60;
const SMALLEST_GAIN = 1e-7;
/** Of each number of the form, to either side: how a slope is measured. */
const APART = 1e-5;
const LEAST = 1e-9;

/**
 * The machine with the numbers of its form fitted to `rows`, from the true ones on: least squares, and for classes the
 * greatest likelihood, by Levenberg and Marquardt's steps. The scatter of numbers is fitted too, as a multiple of the true one.
 */
export function fitted(machine, rows) {
  const { form, classes } = machine;
  const scale = form.map(Math.abs);
  let at = { form, ...lossOf(machine, rows, form) };
  let damping = 1e-4;
  for (let step = 0, gain = Infinity; step < STEPS && gain > SMALLEST_GAIN; step++) {
    const { sums, slope } = normalEquations(machine, rows, at, scale);
    gain = 0;
    for (let attempt = 0; attempt < 12 && gain === 0; attempt++) {
      const damped = sums.map((line, i) => line.with(i, line[i] + damping * (line[i] + 1e-6)));
      const move = solved(damped, slope);
      const next = at.form.map((one, i) => one + move[i] * scale[i]);
      const tried = { form: next, ...lossOf(machine, rows, next) };
      if (tried.loss < at.loss) {
        gain = at.loss - tried.loss;
        at = tried;
        damping = Math.max(LEAST, damping / 5);
      } else {
        damping *= 5;
      }
    }
  }
  const wider = classes === undefined ? Math.sqrt((2 * at.loss) / (rows.length - form.length)) : 1;
  return { ...machine, form: at.form, spread: (row) => wider * machine.spread(row) };
}

/** The negative logarithm of the likelihood, and of each row its weight and how far its mean is off. */
function lossOf(machine, rows, form) {
  let loss = 0;
  const offs = rows.map((row) => {
    const mean = meanOf(machine, row, form);
    if (machine.classes === undefined) {
      const spread = machine.spread(row);
      loss += ((row[machine.target] - mean) / spread) ** 2 / 2;
      return { weight: 1 / spread ** 2, off: row[machine.target] - mean };
    }
    const isFirst = row[machine.target] === machine.classes[0];
    const below = Math.min(1 - LEAST, Math.max(LEAST, normalBelow(mean)));
    const density = Math.max(LEAST, normalDensity(mean));
    loss -= Math.log(isFirst ? below : 1 - below);
    return { weight: density ** 2 / (below * (1 - below)), off: ((isFirst ? 1 : 0) - below) / density };
  });
  return { loss, offs };
}

function normalEquations(machine, rows, { form, offs }, scale) {
  const sums = form.map(() => form.map(() => 0));
  const slope = form.map(() => 0);
  rows.forEach((row, at) => {
    const { weight, off } = offs[at];
    const slopes = form.map((one, i) => {
      const [above, below] = [1, -1].map((way) => form.with(i, one + way * APART * scale[i]));
      return (meanOf(machine, row, above) - meanOf(machine, row, below)) / (2 * APART);
    });
    slopes.forEach((one, i) => {
      slope[i] += weight * one * off;
      slopes.forEach((other, j) => (sums[i][j] += weight * one * other));
    });
  });
  return { sums, slope };
}

/** By Gauss and Jordan, with pivots. */
function solved(matrix, right) {
  const lines = matrix.map((line, i) => [...line, right[i]]);
  for (let i = 0; i < lines.length; i++) {
    const rest = lines.slice(i).map((line) => Math.abs(line[i]));
    const pivot = i + rest.indexOf(Math.max(...rest));
    [lines[i], lines[pivot]] = [lines[pivot], lines[i]];
    for (const [k, line] of lines.entries()) {
      const factor = line[i] / lines[i][i];
      if (k !== i) {
        lines[k] = line.map((one, j) => one - factor * lines[i][j]);
      }
    }
  }
  return lines.map((line, i) => line.at(-1) / line[i]);
}
