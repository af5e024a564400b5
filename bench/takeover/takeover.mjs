/*
 * Challengers against the model in charge: how often one takes over without merit, after a real shift, and after a bad
 * day. The learner runs in this process, with few trees: npm run bench -- takeover [--runs 200]
 */
import { createRequire } from 'node:module';

import { SENSORS, stream } from './streams.mjs';

const require = createRequire(import.meta.url);
const learner = require('../../dist/src/learner');
const { chooseTestRows, usualRows } = require('../../dist/src/train/test-rows');
const { decide, LEAST_LATER, pinballLosses } = require('../../dist/src/train/decision');

const at = process.argv.indexOf('--runs');
const RUNS = at < 0 ? 200 : Number(process.argv[at + 1]);

const FIRST = 500;
/** Train rows of a champion that are kept beside it. */
const REFERENCE = 400;
/** Rows kept for a train set, as the series node bounds them. */
const KEEP = 2000;
/** New rows between two fits. */
const STEP = 200;
const EMBARGO = 10;
/** Rows by the champion's at which a challenger takes over without a comparison. */
const GROWN = 1.5;
const NEXT = 500;
/** Whether the watch has told of a decay. */
const TOLD = [false, true];
const LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

const take = (values, rows) => Float64Array.from(rows, (row) => values[row]);
const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function fit(data, rows) {
  const target =
    data.task === 'regression'
      ? { task: 'regression', values: take(data.target, rows) }
      : { task: 'classification', classes: ['no', 'yes'], codes: Int32Array.from(take(data.target, rows)) };
  return learner.trainModel({
    features: featuresOf(data, rows),
    target,
    options: { n_estimators: 2, inference_config: { BLOCKS: 25, EMBARGO } },
  });
}

function featuresOf(data, rows) {
  return data.features.map((values, k) => ({
    name: `sensor ${k + 1}`,
    kind: 'number',
    values: take(values, rows),
  }));
}

/** What a model says of rows: the probability of the true class, or the quantiles [level][row]. */
function answersOf(model, data, rows) {
  if (data.task === 'regression') {
    return learner.predict(model, featuresOf(data, rows), rows.length).quantiles(LEVELS);
  }
  const { probas } = learner.predict(model, featuresOf(data, rows), rows.length);
  return Float64Array.from(rows, (row, i) => probas[2 * i + data.target[row]]);
}

function lossOf(model, data, rows) {
  const answers = answersOf(model, data, rows);
  return mean(
    data.task === 'regression'
      ? pinballLosses(answers, take(data.target, rows))
      : answers.map((p) => -Math.log(Math.max(p, 0.001))),
  );
}

function factsOf(data, rows) {
  const isNumbers = data.task === 'regression';
  const codes = isNumbers ? new Int32Array(0) : Int32Array.from(take(data.target, rows));
  return {
    rows: rows.length,
    task: data.task,
    codes,
    classes: ['no', 'yes'],
    counts: isNumbers
      ? [rows.length]
      : [codes.filter((c) => c === 0).length, codes.filter((c) => c === 1).length],
    values: isNumbers ? take(data.target, rows) : new Float64Array(0),
    order: 'time',
    falling: false,
  };
}

/**
 * What champion and challenger say of the rows that a fit of rows up to `to` compares them on, and the model that would
 * take over, fitted when it is asked for. @param until the champion was fitted on rows up to here
 */
async function meeting(data, champion, until, to, isDecayed, known = new Map()) {
  const rows = range(Math.max(0, to - KEEP), to);
  const full = once(() => fit(data, rows));
  const seen = Uint8Array.from(rows, (row) => (row < until ? 1 : 0));
  const chosen = await chooseTestRows(factsOf(data, rows), { seen, embargo: EMBARGO, seed: 0, isDecayed });
  if (chosen.tooFew) {
    return { full, rows: rows.length };
  }
  const [held, kept] = [1, 0].map((what) => rows.filter((_, i) => chosen.plan[i] === what));
  // With a decay told or not the rows are mostly the same, and a fit is what takes its time.
  const place = `${to} ${held[0]} ${kept.at(-1)}`;
  if (!known.has(place)) {
    const answers = {
      task: data.task,
      classes: 2,
      champion: answersOf(champion, data, held),
      challenger: answersOf(fit(data, kept), data, held),
      ...(data.task === 'regression' && { actual: take(data.target, held) }),
    };
    const usual = await usualOf(data, { rows, seen, held, until });
    known.set(place, { full, rows: rows.length, answers, usual, held });
  }
  return known.get(place);
}

/** Of each row held back, whether its values are such as the champion was fitted on. */
function usualOf(data, { rows, seen, held, until }) {
  const columns = featuresOf(data, held).map(({ name }) => ({ name, type: 'number' }));
  const known = range(Math.max(0, until - KEEP), until);
  const every = Math.max(1, Math.ceil(known.length / REFERENCE));
  const some = known
    .filter((_, at) => at % every === 0)
    .map((row) => data.features.map((values) => values[row]));
  const usual = data.features.map((values) => {
    const own = [...values.subarray(Math.max(0, until - KEEP), until)].sort((a, b) => a - b);
    return { kind: 'number', min: own[0], max: own.at(-1) };
  });
  const batch = {
    rows: held.length,
    columns: featuresOf(data, held).map(({ values }) => ({ type: 'number', values })),
  };
  const numbers = Int32Array.from(held, (row) => row - rows[0]);
  const compared = { features: columns, batches: () => [batch], numbers };
  return usualRows(compared, { reference: { columns, rows: some, usual }, seen }, factsOf(data, rows));
}

/** One fit of rows up to `to`, against a champion that was fitted on those up to `until`. */
async function challenge(data, champion, until, to, { isDecayed = false, known, putOff }) {
  const { full, rows, answers, usual, held } = await meeting(data, champion, until, to, isDecayed, known);
  if (answers === undefined) {
    // As src/train/compare.ts does.
    return { taken: isDecayed || rows >= GROWN * until, model: full };
  }
  const { scores } = champion.report;
  // As notePutOff of src/train/decision.ts remembers it, beside the champion.
  const before = putOff.get(until);
  const later = before === undefined ? undefined : Uint8Array.from(held, (row) => (row >= before ? 1 : 0));
  const suspicion = { decayed: isDecayed, promised: scores.log_loss ?? scores.pinball };
  const { why } = decide(answers, suspicion, { usual, later });
  if ((later ?? held).filter((one) => later === undefined || one === 1).length >= LEAST_LATER) {
    putOff.set(until, usual.includes(0) ? to : undefined);
  }
  return { taken: why === 'better' || why === 'decayed', model: full };
}

function once(make) {
  let made;
  return () => (made ??= make());
}

/** What becomes of the champion when a fit takes over: whether the new model is worse on the next rows. */
function isWorse(data, model, champion, to) {
  const next = range(to, to + NEXT);
  return lossOf(model, data, next) >= lossOf(champion, data, next) ? 1 : 0;
}

/** Refits one after the other, without drift: how many take over, and how many of those are not better afterwards. */
async function calm(task, first = FIRST, step = STEP) {
  const counts = { fits: 0, taken: 0, worse: 0 };
  for (let run = 0; counts.fits < RUNS; run++) {
    const data = stream({ task, rows: first + 10 * step + NEXT, seed: 1000 + run });
    let until = first;
    let champion = fit(data, range(0, until));
    const putOff = new Map();
    for (let to = first + step; to <= first + 10 * step && counts.fits < RUNS; to += step) {
      const { taken, model } = await challenge(data, champion, until, to, { putOff });
      counts.fits++;
      if (taken) {
        counts.taken++;
        counts.worse += isWorse(data, model(), champion, to);
        champion = model();
        until = to;
      }
    }
  }
  return counts;
}

/** A champion, then a change, and a fit whenever the rows have grown by a fifth; without a decay told, and with it. */
async function shift(task, change, rows = 1500) {
  const runs = Math.ceil(RUNS / 4);
  const within = TOLD.map(() => [0, 0]);
  const fits = [1.2 * rows, 1.44 * rows];
  for (let run = 0; run < runs; run++) {
    const data = stream({ task, rows: fits[1], seed: 2000 + run, [change]: rows });
    const champion = fit(data, range(0, rows));
    const known = new Map();
    for (const [told, isDecayed] of TOLD.entries()) {
      const putOff = new Map();
      for (const [count, to] of fits.entries()) {
        if ((await challenge(data, champion, rows, to, { isDecayed, known, putOff })).taken) {
          within[told][count]++;
          break;
        }
      }
    }
  }
  return within.map(([first, second]) => ({ runs, first, second: first + second }));
}

/**
 * A day of 150 rows that are wrong: 30 % of their labels (`flipped`), one sensor, or the number to predict. A fit at its
 * end, and one a day later; without a decay told, and with it.
 */
async function badDay(task, what, rows = 1500) {
  const runs = Math.ceil(RUNS / 4);
  const [end, after] = [rows + 150, rows + 300];
  const counts = TOLD.map(() => ({ runs, atEnd: [0, 0], dayAfter: [0, 0] }));
  for (let run = 0; run < runs; run++) {
    const data = stream({ task, rows: after + NEXT, seed: 3000 + run, [what]: [rows, end] });
    const champion = fit(data, range(0, rows));
    const known = new Map();
    for (const [told, isDecayed] of TOLD.entries()) {
      const putOff = new Map();
      for (const [to, count] of [
        [end, counts[told].atEnd],
        [after, counts[told].dayAfter],
      ]) {
        const { taken, model } = await challenge(data, champion, rows, to, { isDecayed, known, putOff });
        count[0] += taken ? 1 : 0;
        count[1] += taken ? isWorse(data, model(), champion, to) : 0;
      }
    }
  }
  return counts;
}

const part = (count, of) => `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`;

console.log(`${SENSORS} sensors, a fit every ${STEP} rows, embargo ${EMBARGO}\n`);
console.log('| what | classification | regression |\n|---|---|---|');
const tasks = ['classification', 'regression'];
const ofBoth = async (measure) => [await measure(tasks[0]), await measure(tasks[1])];

async function showCalm(what, first, step) {
  const counts = await ofBoth((task) => calm(task, first, step));
  console.log(`| ${what} that take over | ${counts.map((c) => part(c.taken, c.fits)).join(' | ')} |`);
  console.log(
    `| … and are not better on the next ${NEXT} | ${counts.map((c) => part(c.worse, c.fits)).join(' | ')} |`,
  );
}

async function showShift(name, change, { rows, of: measured = tasks } = {}) {
  const shifts = await ofSome(measured, (task) => shift(task, change, rows));
  for (const [told, isDecayed] of TOLD.entries()) {
    const cells = (of) => cellsOf(shifts, (both) => part(both[told][of], both[told].runs));
    console.log(
      `| ${name}${isDecayed ? ', a decay reported' : ''}: taken over with the first fit | ${cells('first')} |`,
    );
    console.log(`| … within two fits | ${cells('second')} |`);
  }
}

async function showBadDay(name, what, { rows, of: measured = tasks } = {}) {
  const counts = await ofSome(measured, (task) => badDay(task, what, rows));
  for (const [told, isDecayed] of TOLD.entries()) {
    const cell = (of) => (both) => `${part(both[told][of][0], both[told].runs)}, ${both[told][of][1]} worse`;
    console.log(
      `| ${name}${isDecayed ? ', a decay reported' : ''}: taken over at its end | ${cellsOf(counts, cell('atEnd'))} |`,
    );
    console.log(`| … taken over a day later | ${cellsOf(counts, cell('dayAfter'))} |`);
  }
}

/** By task; undefined where it is not measured. */
async function ofSome(measured, measure) {
  const counts = [];
  for (const task of tasks) {
    counts.push(measured.includes(task) ? await measure(task) : undefined);
  }
  return counts;
}

const cellsOf = (counts, text) => counts.map((both) => both && text(both)).join(' | ');
const LABELS = ['classification'];
const NUMBERS = ['regression'];

await showCalm('refits without drift');
await showCalm('with a champion of 200 rows, refits every 60', 200, 60);
await showShift('the relationship changes', 'lawAt');
await showShift('the relationship changes, a champion of 200 rows', 'lawAt', { rows: 200 });
await showShift('a worn sensor', 'wornAt');
await showShift('a sensor changes scale', 'sensorAt');
await showShift('outcomes in another unit', 'fahrenheitAt', { of: NUMBERS });
await showBadDay('a day of 30 % wrong labels', 'flipped', { of: LABELS });
await showBadDay('a day of 30 % wrong labels, a champion of 200 rows', 'flipped', { rows: 200, of: LABELS });
await showBadDay('a day of a sensor that reads at random', 'senseless');
await showBadDay('a day of a sensor that reads -999', 'code');
await showBadDay('a day of a stuck sensor, within its range', 'stuck');
await showBadDay('a day of outcomes far too high', 'high', { of: NUMBERS });
await showBadDay('a day of outcomes at random', 'anything', { of: NUMBERS });
await showBadDay('a day of stuck outcomes', 'still', { of: NUMBERS });
