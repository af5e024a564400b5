/*
 * Challengers against the model in charge: how often one takes over without merit, after a real shift, and after a day
 * of wrong labels. The learner runs in this process, with few trees: node bench/takeover/takeover.mjs [--runs 200]
 */
import { createRequire } from 'node:module';

import { SENSORS, stream } from './streams.mjs';

const require = createRequire(import.meta.url);
const learner = require('../../dist/src/learner');
const { chooseTestRows } = require('../../dist/src/scoring/challenger/test-rows');
const { decide } = require('../../dist/src/scoring/challenger/decision');
const { logLosses, pinballLosses } = require('../../dist/src/scoring/challenger/row-losses');

const at = process.argv.indexOf('--runs');
const RUNS = at < 0 ? 200 : Number(process.argv[at + 1]);

const FIRST = 500;
/** Rows kept for a train set, as the series node bounds them. */
const KEEP = 2000;
/** New rows between two fits. */
const STEP = 200;
const EMBARGO = 10;
/** Rows by the champion's at which a challenger takes over without a comparison. */
const GROWN = 1.5;
const NEXT = 500;
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
    data.task === 'regression' ? pinballLosses(answers, take(data.target, rows)) : logLosses(answers),
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

/** One fit of rows up to `to`, against a champion that was fitted on those up to `until`. */
async function challenge(data, champion, until, to, isDecayed) {
  const rows = range(Math.max(0, to - KEEP), to);
  const seen = Uint8Array.from(rows, (row) => (row < until ? 1 : 0));
  const chosen = await chooseTestRows(factsOf(data, rows), {
    seen,
    embargo: EMBARGO,
    seed: 0,
    isDecayed,
  });
  if (chosen.tooFew) {
    // As compare of src/scoring/challenger does.
    const why = isDecayed ? 'decayed' : rows.length >= GROWN * until ? 'grown' : 'too_few_rows';
    const taken = why !== 'too_few_rows';
    return { why, taken, model: taken ? fit(data, rows) : undefined };
  }
  const held = rows.filter((_, i) => chosen.plan[i] === 1);
  const challenger = fit(
    data,
    rows.filter((_, i) => chosen.plan[i] === 0),
  );
  const { scores } = champion.report;
  const decision = decide(
    {
      task: data.task,
      classes: 2,
      champion: answersOf(champion, data, held),
      challenger: answersOf(challenger, data, held),
      ...(data.task === 'regression' && { actual: take(data.target, held) }),
    },
    { decayed: isDecayed, promised: scores.log_loss ?? scores.pinball },
  );
  const taken = decision.why === 'better' || decision.why === 'decayed';
  return { ...decision, taken, model: taken ? fit(data, rows) : undefined };
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
    for (let to = first + step; to <= first + 10 * step && counts.fits < RUNS; to += step) {
      const { taken, model } = await challenge(data, champion, until, to, false);
      counts.fits++;
      if (taken) {
        counts.taken++;
        counts.worse += isWorse(data, model, champion, to);
        champion = model;
        until = to;
      }
    }
  }
  return counts;
}

/** A champion, then a change, and a fit whenever the rows have grown by a fifth. */
async function shift(task, change, isDecayed, rows = 1500) {
  const runs = Math.ceil(RUNS / 4);
  const within = [0, 0];
  const fits = [1.2 * rows, 1.44 * rows];
  for (let run = 0; run < runs; run++) {
    const data = stream({ task, rows: fits[1], seed: 2000 + run, [change]: rows });
    const champion = fit(data, range(0, rows));
    for (const [count, to] of fits.entries()) {
      if ((await challenge(data, champion, rows, to, isDecayed)).taken) {
        within[count]++;
        break;
      }
    }
  }
  return { runs, first: within[0], second: within[0] + within[1] };
}

/**
 * A day of 150 rows that are wrong: 30 % of their labels (`flipped`), or one sensor (`senseless`). A fit at its end, and
 * one a day later.
 */
async function badDay(task, what, isDecayed, rows = 1500) {
  const runs = Math.ceil(RUNS / 4);
  const [end, after] = [rows + 150, rows + 300];
  const counts = { runs, atEnd: [0, 0], dayAfter: [0, 0] };
  for (let run = 0; run < runs; run++) {
    const data = stream({ task, rows: after + NEXT, seed: 3000 + run, [what]: [rows, end] });
    const champion = fit(data, range(0, rows));
    for (const [to, count] of [
      [end, counts.atEnd],
      [after, counts.dayAfter],
    ]) {
      const { taken, model } = await challenge(data, champion, rows, to, isDecayed);
      count[0] += taken ? 1 : 0;
      count[1] += taken ? isWorse(data, model, champion, to) : 0;
    }
  }
  return counts;
}

const part = (count, of) => `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`;

console.log(`${SENSORS} sensors, a fit every ${STEP} rows, embargo ${EMBARGO}\n`);
console.log('| what | classes | numbers |\n|---|---|---|');
const tasks = ['classification', 'regression'];
const ofBoth = async (measure) => [await measure(tasks[0]), await measure(tasks[1])];

async function showCalm(what, first, step) {
  const counts = await ofBoth((task) => calm(task, first, step));
  console.log(`| ${what} that take over | ${counts.map((c) => part(c.taken, c.fits)).join(' | ')} |`);
  console.log(
    `| … and are not better on the next ${NEXT} | ${counts.map((c) => part(c.worse, c.fits)).join(' | ')} |`,
  );
}

async function showShift(name, change, isDecayed, rows) {
  const shifts = await ofBoth((task) => shift(task, change, isDecayed, rows));
  const what = `${name}${isDecayed ? ', decay told' : ''}`;
  console.log(
    `| ${what}: taken with the first fit | ${shifts.map((s) => part(s.first, s.runs)).join(' | ')} |`,
  );
  console.log(`| … within two fits | ${shifts.map((s) => part(s.second, s.runs)).join(' | ')} |`);
}

async function showBadDay(name, what, isDecayed, rows) {
  const isLabels = what === 'flipped';
  const counts = [await badDay(tasks[0], what, isDecayed, rows)];
  if (!isLabels) {
    counts.push(await badDay(tasks[1], what, isDecayed, rows));
  }
  const cells = (of) =>
    counts.map((one) => `${part(one[of][0], one.runs)}, ${one[of][1]} worse`).join(' | ') +
    (isLabels ? ' | ' : '');
  console.log(`| ${name}${isDecayed ? ', decay told' : ''}: taken at its end | ${cells('atEnd')} |`);
  console.log(`| … taken a day later | ${cells('dayAfter')} |`);
}

await showCalm('refits without drift');
await showCalm('of a champion of 200 rows, refits every 60', 200, 60);
for (const isDecayed of [false, true]) {
  await showShift('another law', 'lawAt', isDecayed);
  await showShift('another sensor scale', 'sensorAt', isDecayed);
  await showShift('another law, a champion of 200 rows', 'lawAt', isDecayed, 200);
}
for (const isDecayed of [false, true]) {
  await showBadDay('a day of 30 % wrong labels', 'flipped', isDecayed);
  await showBadDay('a day of 30 % wrong labels, a champion of 200 rows', 'flipped', isDecayed, 200);
  await showBadDay('a day of one senseless sensor', 'senseless', isDecayed);
}
