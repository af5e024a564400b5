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
    return { why: 'too_few_rows', taken: false };
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

/** Refits one after the other, without drift: how many take over, and how many of those are not better afterwards. */
async function calm(task) {
  const counts = { fits: 0, taken: 0, worse: 0 };
  for (let run = 0; counts.fits < RUNS; run++) {
    const data = stream({ task, rows: FIRST + 10 * STEP + NEXT, seed: 1000 + run });
    let until = FIRST;
    let champion = fit(data, range(0, until));
    for (let to = FIRST + STEP; to <= FIRST + 10 * STEP && counts.fits < RUNS; to += STEP) {
      const { taken, model } = await challenge(data, champion, until, to, false);
      counts.fits++;
      if (taken) {
        const next = range(to, to + NEXT);
        counts.taken++;
        counts.worse += lossOf(model, data, next) >= lossOf(champion, data, next) ? 1 : 0;
        champion = model;
        until = to;
      }
    }
  }
  return counts;
}

/** A champion of 1,500 rows, then a change, and a fit whenever the rows have grown by a fifth. */
async function shift(task, change, isDecayed) {
  const runs = Math.ceil(RUNS / 4);
  const within = [0, 0];
  const fits = [1800, 2160];
  for (let run = 0; run < runs; run++) {
    const data = stream({ task, rows: fits[1], seed: 2000 + run, [change]: 1500 });
    const champion = fit(data, range(0, 1500));
    for (const [count, to] of fits.entries()) {
      if ((await challenge(data, champion, 1500, to, isDecayed)).taken) {
        within[count]++;
        break;
      }
    }
  }
  return { runs, first: within[0], second: within[0] + within[1] };
}

/** A day of 150 rows of which 30 % have the wrong label, a fit at its end, and one a day later. */
async function badDay(isDecayed) {
  const runs = Math.ceil(RUNS / 4);
  const counts = { runs, atEnd: 0, dayAfter: 0, worse: 0 };
  for (let run = 0; run < runs; run++) {
    const data = stream({ task: 'classification', rows: 2800, seed: 3000 + run, flipped: [1500, 1650] });
    const champion = fit(data, range(0, 1500));
    const first = await challenge(data, champion, 1500, 1650, isDecayed);
    const second = await challenge(data, champion, 1500, 1800, isDecayed);
    counts.atEnd += first.taken ? 1 : 0;
    counts.dayAfter += second.taken ? 1 : 0;
    if (first.taken) {
      const next = range(1650, 1650 + NEXT);
      counts.worse += lossOf(first.model, data, next) >= lossOf(champion, data, next) ? 1 : 0;
    }
  }
  return counts;
}

const part = (count, of) => `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`;

console.log(`${SENSORS} sensors, a fit every ${STEP} rows, embargo ${EMBARGO}\n`);
console.log('| what | classes | numbers |\n|---|---|---|');
const tasks = ['classification', 'regression'];
const calms = [];
for (const task of tasks) {
  calms.push(await calm(task));
}
console.log(
  `| refits without drift that take over | ${calms.map((c) => part(c.taken, c.fits)).join(' | ')} |`,
);
console.log(
  `| … and are not better on the next ${NEXT} | ${calms.map((c) => part(c.worse, c.fits)).join(' | ')} |`,
);
for (const [change, name] of [
  ['lawAt', 'another law'],
  ['sensorAt', 'another sensor scale'],
]) {
  for (const isDecayed of [false, true]) {
    const shifts = [];
    for (const task of tasks) {
      shifts.push(await shift(task, change, isDecayed));
    }
    const what = `${name}${isDecayed ? ', decay told' : ''}`;
    console.log(
      `| ${what}: taken with the first fit | ${shifts.map((s) => part(s.first, s.runs)).join(' | ')} |`,
    );
    console.log(`| … within two fits | ${shifts.map((s) => part(s.second, s.runs)).join(' | ')} |`);
  }
}
for (const isDecayed of [false, true]) {
  const bad = await badDay(isDecayed);
  const how = isDecayed ? ', decay told' : '';
  console.log(
    `| a day of 30 % wrong labels${how}: taken at its end | ${part(bad.atEnd, bad.runs)}, ${bad.worse} worse | |`,
  );
  console.log(`| … taken a day later | ${part(bad.dayAfter, bad.runs)} | |`);
}
