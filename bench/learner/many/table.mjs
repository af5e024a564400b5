/* CSV files as tables for the learner, and their splits. */
import { readFileSync } from 'node:fs';

import Papa from 'papaparse';

import { toFeature } from '../tables.mjs';

/** Reads a file with its target in the column `target`; at most `most` rows, drawn at random. */
export function readTable(file, most) {
  const { data, meta } = Papa.parse(readFileSync(file, 'utf8'), { header: true, skipEmptyLines: true });
  const chosen =
    data.length > most
      ? splitOf(data.length, 99)
          .order.slice(0, most)
          .sort((a, b) => a - b)
          .map((row) => data[row])
      : data;
  const features = meta.fields
    .filter((name) => name !== 'target')
    .map((name) =>
      toColumn(
        name,
        chosen.map((row) => row[name]),
      ),
    );
  const cells = chosen.map((row) => row.target);
  const rows = cells.length;
  if (cells.every((cell) => Number.isFinite(Number(cell)))) {
    return { task: 'regression', rows, features, values: Float64Array.from(cells, Number) };
  }
  const classes = [...new Set(cells)].sort();
  const codes = Int32Array.from(cells, (cell) => classes.indexOf(cell));
  return { task: 'classification', rows, features, classes, codes };
}

/** A feature column; days as YYYY-MM-DD are dates. */
function toColumn(name, cells) {
  const known = cells.filter((cell) => cell !== '');
  if (known.length > 0 && known.every((cell) => /^\d{4}-\d\d-\d\d$/.test(cell))) {
    return {
      name,
      kind: 'number',
      values: Float64Array.from(cells, (cell) => Date.parse(cell) / 86_400_000),
    };
  }
  return toFeature(name, cells);
}

/** How many splits a table of so many rows gets. */
export function splitsOf(rows) {
  return rows <= 300 ? 5 : rows <= 1500 ? 3 : 2;
}

/** A quarter of the rows held back, by a seed. */
export function splitOf(rows, seed) {
  let state = (seed * 747796405 + 2891336453) >>> 0;
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const held = Math.round(rows / 4);
  return { order, test: order.slice(0, held), train: order.slice(held) };
}

export function takeRows(feature, rows) {
  if (feature.kind === 'text') {
    return { ...feature, codes: Int32Array.from(rows, (row) => feature.codes[row]) };
  }
  return { ...feature, values: Float64Array.from(rows, (row) => feature.values[row]) };
}

export function targetOf(table, rows) {
  return table.task === 'regression'
    ? { task: 'regression', values: Float64Array.from(rows, (row) => table.values[row]) }
    : {
        task: 'classification',
        classes: table.classes,
        codes: Int32Array.from(rows, (row) => table.codes[row]),
      };
}
