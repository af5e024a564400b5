/* Tables to measure the learner on: generators of our own, and real ones where the machine has them. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import Papa from 'papaparse';

const root = path.resolve(import.meta.dirname, '../..');

/** Where the real tables are: $TABULAR_DATA, else ../shared/data beside the project; undefined: nowhere. */
export function dataFolder() {
  const folder = process.env.TABULAR_DATA ?? path.resolve(root, '../shared/data');
  return existsSync(folder) ? folder : undefined;
}

/** Cells of text as a feature column: numbers where all are numbers, else text; empty is missing. */
export function toFeature(name, cells) {
  const missing = (cell) => cell === '' || cell === 'NA' || cell === null || cell === undefined;
  const lower = (cell) => String(cell).toLowerCase();
  const known = cells.filter((cell) => !missing(cell));
  if (known.every((cell) => ['true', 'false'].includes(lower(cell)))) {
    const values = Float64Array.from(cells, (cell) => (missing(cell) ? NaN : lower(cell) === 'true' ? 1 : 0));
    return { name, kind: 'number', values };
  }
  if (known.every((cell) => Number.isFinite(Number(cell)))) {
    return {
      name,
      kind: 'number',
      values: Float64Array.from(cells, (cell) => (missing(cell) ? NaN : Number(cell))),
    };
  }
  const index = new Map();
  const codes = Int32Array.from(cells, (cell) => {
    if (missing(cell)) {
      return -1;
    }
    if (!index.has(cell)) {
      index.set(cell, index.size);
    }
    return index.get(cell);
  });
  return { name, kind: 'text', codes, dictionary: [...index.keys()].map(String) };
}

const REAL = [
  { name: 'penguins', file: 'penguins.csv', target: 'species', drop: [] },
  { name: 'titanic', file: 'titanic.csv', target: 'survived', drop: ['alive'] },
  { name: 'mpg', file: 'mpg.csv', target: 'mpg', drop: [], regression: true },
  {
    name: 'ai4i2020',
    file: 'ai4i2020.csv',
    target: 'Machine_failure',
    drop: ['UDI', 'Product ID', 'TWF', 'HDF', 'PWF', 'OSF', 'RNF'],
    positive: '1',
  },
  {
    name: 'ai4i torque',
    file: 'ai4i2020.csv',
    target: 'Torque [Nm]',
    drop: ['UDI', 'Product ID', 'TWF', 'HDF', 'PWF', 'OSF', 'RNF', 'Machine_failure'],
    regression: true,
  },
];

function readReal({ file, target, drop, regression, positive }) {
  const folder = dataFolder();
  if (!folder || !existsSync(path.join(folder, file))) {
    return undefined;
  }
  const { data, meta } = Papa.parse(readFileSync(path.join(folder, file), 'utf8').trim(), { header: true });
  const names = meta.fields.filter((field) => field !== target && !drop.includes(field));
  const features = names.map((field) =>
    toFeature(
      field,
      data.map((row) => row[field]),
    ),
  );
  const cells = data.map((row) => row[target]);
  return makeTable(features, cells, regression, positive);
}

/** Fresh rows that a generator makes to score on, where a quarter of the rows would be too few to tell chance from error. */
const FRESH_ROWS = 4000;

/** A generated table of `rows` rows, three quarters of them to learn from; `test` rows are to be held back. */
function generated(rows, make) {
  const test = Math.max(Math.round(rows / 4), FRESH_ROWS);
  return { ...make(rows - Math.round(rows / 4) + test), test };
}

/** `cells`: the target per row, labels or numbers. */
function makeTable(features, cells, regression, positive) {
  if (regression) {
    return { features, task: 'regression', values: Float64Array.from(cells, Number) };
  }
  const classes = [...new Set(cells)].sort();
  const index = new Map(classes.map((label, i) => [label, i]));
  const codes = Int32Array.from(cells, (cell) => index.get(cell));
  return { features, task: 'classification', classes, codes, positive };
}

/** Marsaglia's xorshift: the generators are the same everywhere. */
function generator(seed) {
  let state = (seed * 2654435761 + 88172645) >>> 0;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

const numbers = (name, values) => ({ name, kind: 'number', values: Float64Array.from(values) });
const column = (rows, of) => Array.from({ length: rows }, (_, row) => of(row));

function friedman(rows) {
  const { uniform, normal } = generator(1);
  const x = column(10, () => column(rows, uniform));
  const y = column(
    rows,
    (i) =>
      10 * Math.sin(Math.PI * x[0][i] * x[1][i]) +
      20 * (x[2][i] - 0.5) ** 2 +
      10 * x[3][i] +
      5 * x[4][i] +
      normal(),
  );
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
    true,
  );
}

function xor(rows) {
  const { uniform } = generator(2);
  const x = column(6, () => column(rows, uniform));
  const y = column(rows, (i) => String(x[0][i] > 0.5 !== x[1][i] > 0.5 ? uniform() < 0.9 : uniform() < 0.1));
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
  );
}

function heteroscedastic(rows) {
  const { uniform, normal } = generator(3);
  const x = column(5, () => column(rows, uniform));
  const y = column(rows, (i) => 10 * x[0][i] + 5 * x[1][i] + (0.2 + 4 * x[2][i]) * normal());
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
    true,
  );
}

function churn(rows) {
  const { uniform, normal } = generator(4);
  const plans = ['basic', 'plus', 'pro', 'family'];
  const regions = column(30, (i) => `region ${i}`);
  const plan = column(rows, () => plans[Math.floor(uniform() ** 1.5 * 4)]);
  const region = column(rows, () => regions[Math.floor(uniform() * 30)]);
  const effect = column(30, () => 0.6 * normal());
  const tenure = column(rows, () => (uniform() < 0.1 ? '' : String(Math.floor(72 * uniform() ** 1.4))));
  const bill = column(rows, (i) =>
    uniform() < 0.15 ? '' : String(20 + 15 * plans.indexOf(plan[i]) + 8 * normal()),
  );
  const calls = column(rows, () => String(Math.floor(-2 * Math.log(1 - uniform()))));
  const paperless = column(rows, () => String(uniform() < 0.6));
  const y = column(rows, (i) => {
    const z =
      -1.2 -
      0.04 * (Number(tenure[i]) || 30) +
      0.45 * Number(calls[i]) +
      (tenure[i] === '' ? 0.8 : 0) +
      (plan[i] === 'basic' ? 0.7 : plan[i] === 'family' ? -0.8 : 0) +
      effect[regions.indexOf(region[i])] +
      (Number(bill[i] || 45) > 70 && paperless[i] === 'true' ? 1.2 : 0);
    return uniform() < 1 / (1 + Math.exp(-z)) ? 'left' : 'stayed';
  });
  const cells = { plan, region, tenure, bill, calls, paperless };
  return makeTable(
    Object.entries(cells).map(([name, v]) => toFeature(name, v)),
    y,
  );
}

function highCardinality(rows, count) {
  const { uniform, normal } = generator(5);
  const effect = column(count, () => 1.5 * normal());
  const id = column(rows, () => Math.floor(uniform() ** 2 * count));
  const x = column(rows, uniform);
  const noise = column(rows, normal);
  const y = column(rows, (i) => String(uniform() < 1 / (1 + Math.exp(-(effect[id[i]] + 2 * x[i] - 1)))));
  const features = [
    toFeature(
      'customer',
      id.map((i) => `customer-${i}`),
    ),
    numbers('x', x),
    numbers('noise', noise),
  ];
  return makeTable(features, y);
}

function shortText(rows) {
  const { uniform, normal } = generator(6);
  const good = ['excellent', 'great', 'love it', 'works well', 'perfect fit', 'very happy'];
  const bad = ['broken', 'terrible', 'refund please', 'not working', 'never again', 'too slow'];
  const plain = [
    'the product',
    'arrived today',
    'ordered last week',
    'blue colour',
    'size m',
    'for my brother',
    'box',
  ];
  const pick = (list) => list[Math.floor(uniform() * list.length)];
  const lean = column(rows, () => normal());
  const text = column(rows, (i) => {
    const words = [pick(plain), pick(plain)];
    if (uniform() < 0.8) {
      words.splice(1, 0, pick(uniform() < 1 / (1 + Math.exp(-2 * lean[i])) ? good : bad));
    }
    if (uniform() < 0.5) {
      words.push(pick(plain), String(Math.floor(uniform() * 100)));
    }
    return words.join(' ');
  });
  const price = column(rows, () => 5 + 50 * uniform());
  const y = column(rows, (i) =>
    String(Math.max(1, Math.min(5, Math.round(3 + 1.2 * lean[i] + 0.5 * normal())))),
  );
  return makeTable([toFeature('review', text), numbers('price', price)], y);
}

function imbalanced(rows) {
  const { uniform, normal } = generator(7);
  const x = column(8, () => column(rows, normal));
  const y = column(rows, (i) => {
    const z = -5.5 + 1.5 * x[0][i] + x[1][i] * x[2][i] + (x[3][i] > 1 ? 2 : 0);
    return String(uniform() < 1 / (1 + Math.exp(-z)));
  });
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
  );
}

function classes(rows, count) {
  const { uniform, normal } = generator(8);
  const centers = column(count, () => column(8, () => 2 * normal()));
  const label = column(rows, () => Math.floor(uniform() * count));
  const x = column(8, (d) => column(rows, (i) => centers[label[i]][d] * (d % 2 ? 1 : 0.5) + 1.5 * normal()));
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    label.map((l) => `class ${l}`),
  );
}

function linear(rows) {
  const { normal } = generator(9);
  const x = column(12, () => column(rows, normal));
  const y = column(rows, (i) => x.reduce((sum, v, d) => sum + v[i] * (d % 3), 0) + 2 * normal());
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
    true,
  );
}

/** 20 mixed columns: 12 numbers, some missing, and 8 categories. */
export function mixed(rows, regression = false) {
  const { uniform, normal } = generator(10);
  const x = column(12, (d) =>
    Float64Array.from(column(rows, () => (d < 3 && uniform() < 0.1 ? NaN : normal()))),
  );
  const sizes = [2, 3, 5, 8, 12, 30, 80, 200];
  const c = sizes.map((size) => Int32Array.from(column(rows, () => Math.floor(uniform() * size))));
  const effects = sizes.map((size) => column(size, () => 0.5 * normal()));
  const features = [
    ...x.map((v, i) => numbers(`x${i}`, v)),
    ...c.map((codes, i) => ({
      name: `c${i}`,
      kind: 'text',
      codes,
      dictionary: column(sizes[i], (k) => `v${k}`),
    })),
  ];
  const y = column(rows, (i) => {
    const z =
      Math.sin(2 * x[3][i]) +
      0.7 * x[4][i] * x[5][i] +
      (x[0][i] > 0 ? 0.8 : -0.4) +
      0.5 * Math.abs(x[6][i]) +
      c.reduce((sum, codes, d) => sum + effects[d][codes[i]], 0);
    return regression ? z + normal() : String(uniform() < 1 / (1 + Math.exp(-1.5 * z)));
  });
  return makeTable(features, y, regression);
}

/** 20 columns of numbers, eight of which count. */
export function plain(rows, regression = false) {
  const { uniform, normal } = generator(11);
  const x = column(20, () => Float64Array.from(column(rows, normal)));
  const y = column(rows, (i) => {
    const z =
      Math.sin(2 * x[3][i]) +
      0.7 * x[4][i] * x[5][i] +
      (x[0][i] > 0 ? 0.8 : -0.4) +
      0.5 * Math.abs(x[6][i]) +
      0.4 * x[7][i] * (x[8][i] > 0 ? 1 : 0.2) +
      0.3 * x[9][i];
    return regression ? z + normal() : String(uniform() < 1 / (1 + Math.exp(-1.5 * z)));
  });
  return makeTable(
    x.map((v, i) => numbers(`x${i}`, v)),
    y,
    regression,
  );
}

const GENERATED = [
  ['friedman 200', 200, friedman],
  ['friedman 2000', 2000, friedman],
  ['xor 500', 500, xor],
  ['heteroscedastic 3000', 3000, heteroscedastic],
  ['linear 300', 300, linear],
  ['churn 1000', 1000, churn],
  ['churn 10000', 10_000, churn],
  ['high cardinality 5000', 5000, (rows) => highCardinality(rows, 500)],
  ['short text 1500', 1500, shortText],
  ['imbalanced 5000', 5000, imbalanced],
  ['5 classes 50', 50, (rows) => classes(rows, 5)],
  ['5 classes 1000', 1000, (rows) => classes(rows, 5)],
  ['40 classes 4000', 4000, (rows) => classes(rows, 40)],
  ['mixed 100000', 100_000, (rows) => mixed(rows)],
  ['mixed 100000 regression', 100_000, (rows) => mixed(rows, true)],
];

/** Every table, made when asked for; undefined where its data is not here. */
export const TABLES = {
  ...Object.fromEntries(REAL.map((real) => [real.name, () => readReal(real)])),
  ...Object.fromEntries(GENERATED.map(([name, rows, make]) => [name, () => generated(rows, make)])),
};
