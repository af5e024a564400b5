/*
 * npm run bench -- copies <folder of CSV files> [--alone] [--still]: how often the rule of src/metrics/repeated-rows.ts finds copies in tables
 * as they are, and with copies made on purpose. The figures beside the rule are of the CSV files of
 * https://github.com/vincentarelbundock/Rdatasets below 1.5 MB, with 60 rows and 3 columns at least.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import Papa from 'papaparse';

import {
  ColumnSplit,
  FEWEST_COLUMNS,
  FEWEST_TOGETHER,
  PrivateValues,
  RowKinds,
  RowsButOne,
} from '../../dist/src/metrics/repeated-rows.js';
import { StillRows } from '../../dist/src/metrics/still-rows.js';

const FEWEST_ROWS = 60;
const COLUMNS_TO_TRY = 3;
const MOST_COLUMNS = 200;
const MOST_ROWS = 5000;

const folder = process.argv[2];
/** Asks each column by itself alone. */
const alone = process.argv.includes('--alone');
/** Only whether machines stand still. */
const onlyStill = process.argv.includes('--still');
if (folder === undefined) {
  console.error('Name a folder of CSV files.');
  process.exit(1);
}

let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** Numbers values from 0 in the order in which they come. */
function numbering() {
  const known = new Map();
  return (value) => known.get(value) ?? known.set(value, known.size).get(value);
}

function findsCopies(rows) {
  const kinds = new RowKinds(rows.length);
  const kind = numbering();
  rows.forEach((row) => kinds.add(kind(row.join('\u0001'))));
  if (kinds.areAllDifferent || kinds.times > 1 || rows[0].length < FEWEST_TOGETHER) {
    return kinds.times > 1;
  }
  const splits = rows[0].map(() => new ColumnSplit());
  const cells = rows.map(() => []);
  const isNarrow = rows[0].length < FEWEST_COLUMNS;
  const isTold = rows[0].some((_, column) => {
    const values = new PrivateValues(kinds);
    const number = numbering();
    rows.forEach((row, at) => {
      const value = number(row[column]);
      cells[at].push(value);
      splits[column].add(value, at);
      if (row[column] !== '' && row[column] !== 'NA') {
        values.add(value, at);
      }
    });
    return isNarrow ? values.areOfMostKinds : values.tellOfCopies();
  });
  if (isTold !== isNarrow || alone || !kinds.mayBeCopied(rows[0].length)) {
    return isTold && !isNarrow;
  }
  const together = new RowsButOne(kinds, splits);
  rows.forEach((_, at) => together.add(cells[at], at));
  return together.tellOfCopies();
}

/** Whether the last column but dates and what rises tell of a machine that stands still. */
function standsStill(rows) {
  const columns = rows[0]
    .map((_, column) => rows.map((row) => row[column]))
    .filter((cells) => !tellsTime(cells));
  const kinds = new RowKinds(rows.length);
  const kind = numbering();
  rows.forEach((_, at) => kinds.add(kind(columns.map((cells) => cells[at]).join('\u0001'))));
  const still = new StillRows(kinds, columns.length);
  still.firstRows.forEach((first, candidate) => {
    rows.forEach((_, at) =>
      still.add(candidate, columns.filter((cells) => cells[at] !== cells[first]).length),
    );
  });
  return still.repeats() !== undefined;
}

function tellsTime(cells) {
  return (
    cells.every((cell) => /^\d{4}-\d\d-\d\d/.test(cell)) ||
    cells.every((cell, row) => cell !== '' && (row === 0 || Number(cell) > Number(cells[row - 1])))
  );
}

/** Puts a row again and again, after one in the middle. */
function withDay(rows, minutes) {
  const at = Math.floor(rows.length * (0.3 + 0.4 * random()));
  return [...rows.slice(0, at), ...new Array(minutes).fill(rows[at]), ...rows.slice(at)];
}

const ways = {
  'as it is': (rows) => rows,
  'every row twice': (rows) => [...rows, ...rows],
  'a third twice': (rows) => [...rows, ...rows.filter(() => random() < 1 / 3)],
  'a tenth twice': (rows) => [...rows, ...rows.filter(() => random() < 1 / 10)],
  'one row for an eighth': (rows) => [
    ...rows,
    ...new Array(Math.floor(rows.length / 8)).fill(rows[Math.floor(random() * rows.length)]),
  ],
};
/** With a row that stands there for as many rows as the table has, a third and a tenth of them, but 30 at least. */
const days = {
  'as it is': (rows) => rows,
  'a day that stands still, half of the rows': (rows) => withDay(rows, Math.max(30, rows.length)),
  'a quarter': (rows) => withDay(rows, Math.max(30, Math.round(rows.length / 3))),
  'a tenth': (rows) => withDay(rows, Math.max(30, Math.round(rows.length / 9))),
};
const found = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
const still = Object.fromEntries(Object.keys(days).map((way) => [way, []]));
let tables = 0;
for (const file of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.csv'))) {
  const { data } = Papa.parse(readFileSync(path.join(folder, file), 'utf8'), { skipEmptyLines: true });
  const [names = [], ...lines] = data;
  const first = names[0] === 'rownames' ? 1 : 0;
  const rows = lines
    .filter((row) => row.length === names.length)
    .slice(0, MOST_ROWS)
    .map((row) => row.slice(first));
  const columns = names.length - first;
  if (rows.length < FEWEST_ROWS || columns < COLUMNS_TO_TRY || columns > MOST_COLUMNS) {
    continue;
  }
  tables++;
  for (const [way, change] of Object.entries(days)) {
    if (standsStill(change(rows))) {
      still[way].push(`${file} (${rows.length} × ${columns})`);
    }
  }
  for (const [way, change] of onlyStill ? [] : Object.entries(ways)) {
    if (findsCopies(change(rows))) {
      found[way].push(`${file} (${rows.length} × ${columns})`);
    }
  }
}
for (const [what, counts] of Object.entries({ copies: found, still })) {
  for (const [way, files] of Object.entries(counts)) {
    console.log(`${what}, ${way}: ${files.length} of ${tables}`);
  }
  console.log(`\nAs they are:\n${counts['as it is'].join('\n')}\n`);
}
