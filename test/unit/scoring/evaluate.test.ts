import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { ModelCard, PredictOutcome, PredictRequest } from '../../../dist/src/connection';
import type { Evaluation } from '../../doors/scoring';
import { seededRandom } from '../../doors/util';
import { type Bench, bench, codeOf, embeddedBench, history, row } from './stand-in';

type Row = Record<string, unknown>;

const without = (table: Row[], ...names: string[]): Row[] =>
  table.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name))));

/** A fit tells the days of the whole table, by the part of its rows. */
function withoutDays(curves: unknown): unknown {
  const copy = structuredClone(curves) as { by_threshold?: { days?: number } };
  if (copy.by_threshold !== undefined) {
    assert.ok(Math.abs(copy.by_threshold.days! - 99 / 24) < 0.1);
    delete copy.by_threshold.days;
  }
  return copy;
}

const random = seededRandom(11);
/** Hourly, a year long in part: a level that wanders, and what it was an hour before. */
const rows: Row[] = [];
for (let i = 0, level = 20; i < 400; i++) {
  const now = level;
  const heat = random() * 10;
  level += heat - 5 + random();
  rows.push({
    day: new Date(Date.UTC(2026, 0, 1, i)).toISOString(),
    heat,
    now,
    fuel: i % 3 === 0 ? 'oil' : 'gas',
    level,
    high: heat + 2 * random() > 6 ? 'yes' : 'no',
  });
}
const NEWEST = rows.slice(300);

describe('evaluating predictions', function () {
  this.timeout(240_000);
  const at = embeddedBench();
  const options = { n_estimators: 1, inference_config: { SUBSAMPLE_SAMPLES: 120 } };
  const fit = { order: 'time', holdout: 25, options } as const;
  const cards: Record<string, ModelCard> = {};
  const curves: Record<string, unknown> = {};

  before(async () => {
    for (const [model, more] of Object.entries({
      level: { target: 'level', ignore: ['high'] },
      change: { target: 'level', ignore: ['high'], relativeTo: 'now' },
      high: { target: 'high', ignore: ['level', 'now'] },
    })) {
      const fitted = await at.connection.train({ ...fit, ...more, model, table: { value: rows } });
      cards[model] = fitted.card;
      curves[model] = fitted.curves;
    }
  });

  const ask = async (model: string, value: unknown, more: Partial<PredictRequest> = {}) => {
    const predictor = at.connection.predictor();
    try {
      return await predictor.predict({ model, table: { value }, evaluate: true, ...more });
    } finally {
      await predictor.close();
    }
  };
  const evaluated = async (...asked: Parameters<typeof ask>): Promise<Evaluation> =>
    (await ask(...asked)).evaluation!;

  for (const model of ['level', 'change', 'high']) {
    it(`scores rows that a fit kept back as the fit did: ${model}`, async () => {
      const { evaluation: own, table } = await ask(model, NEWEST);
      const {
        from,
        baseline,
        baseline_now: now,
        events,
        loss_low,
        loss_high,
        ...scores
      } = cards[model]!.scores!;
      assert.ok(
        loss_low! <= (scores.log_loss ?? scores.rmse)! && loss_high! >= (scores.log_loss ?? scores.rmse)!,
      );
      assert.equal(events === undefined, scores.log_loss === undefined);
      assert.equal(from, 'holdout');
      assert.deepEqual(own?.scores, scores);
      assert.deepEqual([own.baseline_from, own.baseline], ['train-set', baseline]);
      assert.deepEqual(own.baseline_now, now);
      assert.deepEqual(withoutDays(own.curves), withoutDays(curves[model]));
      const { version, task, target } = cards[model]!;
      assert.deepEqual([own.model, own.version, own.task, own.target], [model, version, task, target]);
      assert.deepEqual([own.rows, own.left_out], [100, 0]);
      const [first] = table as Row[];
      assert.equal(first?.[target], NEWEST[0]![target]);
      assert.ok(first?.prediction !== undefined);
    });
  }

  it('whatever was asked to be predicted, and predicts what it would without', async () => {
    for (const [model, kinds] of Object.entries({
      change: ['mean', 'median', 'mode', 'quantiles', 'main', 'full'],
      high: ['probas', 'preds'],
    })) {
      const some = NEWEST.slice(0, 60);
      const whole = await evaluated(model, some);
      for (const outputType of kinds as NonNullable<PredictRequest['outputType']>[]) {
        const { evaluation, prediction } = await ask(model, some, { outputType });
        assert.deepEqual(evaluation, whole, outputType);
        const plain = await ask(model, some, { outputType, evaluate: false });
        assert.deepEqual(prediction, plain.prediction, outputType);
        assert.equal('evaluation' in plain, false);
      }
    }
  });

  it('compares labels with what they are now, where a column tells', async () => {
    const labels = rows.map((one, i): Row => ({ ...one, before: rows[Math.max(0, i - 1)]!.high }));
    const table = { value: labels };
    const asked = { target: 'high', ignore: ['level', 'now'], relativeTo: 'before' };
    const { card } = await at.connection.train({ ...fit, ...asked, model: 'same', table });
    const newest = labels.slice(300);
    const { scores, baseline_now: now } = await evaluated('same', newest);
    assert.deepEqual(now, card.scores!.baseline_now);
    const same = newest.filter(({ high, before }) => high === before).length;
    assert.deepEqual(now, { rows: 100, accuracy: same / 100 });
    assert.ok(scores.accuracy! > now.accuracy);
    const without = newest.map((one, i) => (i < 50 ? { ...one, before: null } : one));
    assert.equal((await evaluated('same', without)).rows, 100);
  });

  it('leaves rows out that a relative model cannot predict, and does not explain them', async () => {
    const some = NEWEST.slice(0, 40);
    const gaps = some.map((row, i) => (i < 4 ? { ...row, now: null } : row));
    const own = await ask('change', gaps, { explain: true });
    assert.deepEqual([own.evaluation!.rows, own.evaluation!.left_out], [36, 4]);
    assert.deepEqual(own.evaluation!.scores, (await evaluated('change', some.slice(4))).scores);
    const causes = (own.table as Row[]).map((row) => row.prediction_why);
    assert.ok(causes.every((why, i) => (i < 4 ? why === null : Array.isArray(why))));
  });

  it('adds what a relative model is relative to, in every kind of output', async () => {
    const [one] = (await ask('change', [NEWEST[0]], { outputType: 'main', quantiles: [0.5] })).table as Row[];
    const [other] = (await ask('change', [NEWEST[0]], { outputType: 'quantiles', quantiles: [0.5] }))
      .table as Row[];
    const main = one?.prediction as { median: number; quantiles: Row };
    assert.deepEqual(main.quantiles, other?.prediction);
    assert.ok(Math.abs(main.median - Number(NEWEST[0]!.level)) < 8, JSON.stringify(main));
  });

  it('tells of blocks of time what each scores, the oldest first, in whatever order they come', async () => {
    const { blocks, standard_error: error, scores } = await evaluated('level', NEWEST);
    assert.deepEqual(
      blocks!.map((block) => block.rows),
      Array.from({ length: 10 }, () => 10),
    );
    assert.deepEqual([blocks![0]!.from, blocks![9]!.to], [NEWEST[0]!.day, NEWEST[99]!.day]);
    const mean = blocks!.reduce((sum, block) => sum + block.scores.mae! / 10, 0);
    assert.ok(Math.abs(mean - scores.mae!) < 1e-9);
    assert.deepEqual(Object.keys(error!).sort(), ['coverage_80', 'mae', 'pinball', 'r2', 'rmse']);
    assert.ok(error!.mae! > 0 && error!.mae! < scores.mae!);
    const falling = await evaluated('level', [...NEWEST].reverse());
    assert.deepEqual(
      falling.blocks!.map(({ from }) => from),
      blocks!.map(({ from }) => from),
    );

    // A time that is no feature; none, where the model's rows followed each other; and none at all.
    const epochs = NEWEST.map(({ day, ...others }, i) => ({ ...others, day, ts: 1.7e9 + 3600 * i }));
    const unordered = [...epochs].map((one, i) => ({ ...one, day: epochs[(i * 67) % 100]!.day }));
    const byEpoch = await evaluated('level', unordered);
    assert.equal(byEpoch.blocks![0]!.from, new Date(1.7e12).toISOString());
    const withoutTime = unordered.map(({ ts, ...others }) => ({ ...others, n: ts - 1.7e9 }));
    const byNumber = await evaluated('level', withoutTime);
    assert.deepEqual([byNumber.blocks![0]!.from, byNumber.blocks![9]!.to], [1, 100]);
    assert.equal('blocks' in (await evaluated('level', NEWEST.slice(0, 49))), false);
  });

  it('takes rows of one group for alike in the standard error', async () => {
    const machines = rows.map(({ heat }, i) => {
      const machine = Math.floor(i / 20);
      return { machine: `m${machine}`, heat, load: Number(heat) + 8 * Math.sin(99 * machine) };
    });
    await at.connection.train({
      target: 'load',
      ignore: ['machine'],
      group: 'machine',
      order: 'none',
      model: 'machines',
      options,
      table: { value: machines.slice(0, 200) },
    });
    const newer = machines.slice(200);
    const mixed = newer.map((_, i) => newer[(i * 83) % 200]!);
    const grouped = await evaluated('machines', mixed);
    const alone = await evaluated('machines', without(mixed, 'machine'));
    assert.deepEqual(grouped.scores, alone.scores);
    const [whole, single] = [grouped.standard_error!.mae!, alone.standard_error!.mae!];
    assert.ok(whole > 2 * single, `${whole} ${single}`);
    assert.equal('standard_error' in (await evaluated('machines', newer.slice(0, 80))), false);
  });

  it('leaves out rows without a target, and predicts them all the same', async () => {
    const gaps = NEWEST.map((one, i) => ({ ...one, level: i % 3 === 0 ? null : one.level }));
    const { evaluation, table } = await ask('level', gaps);
    assert.deepEqual([evaluation?.rows, evaluation?.left_out], [66, 34]);
    assert.equal((table as Row[]).filter(({ prediction }) => typeof prediction === 'number').length, 100);
    const known = gaps.filter(({ level }) => level !== null);
    assert.deepEqual(evaluation?.scores, (await evaluated('level', known)).scores);

    const none = await evaluated(
      'level',
      gaps.map((one) => ({ ...one, level: null })),
    );
    assert.deepEqual([none.rows, none.left_out, none.scores, 'curves' in none], [0, 100, { rows: 0 }, false]);
  });

  it('of every form of table: one row, columns, text, and a file that is read while it is sent', async () => {
    const one = await evaluated('high', NEWEST[0]);
    assert.deepEqual([one.rows, one.scores.rows, one.scores.accuracy! % 1], [1, 1, 0]);
    const whole = await evaluated('high', NEWEST);
    const names = Object.keys(NEWEST[0]!);
    const columns = Object.fromEntries(names.map((name) => [name, NEWEST.map((each) => each[name])]));
    assert.deepEqual(await evaluated('high', columns), whole);
    const csv = [names.join(), ...NEWEST.map((each) => Object.values(each).join())];
    assert.deepEqual((await evaluated('high', csv.join('\n'))).scores, whole.scores);

    const file = path.join(at.folder, 'rows.csv');
    const lines = Array.from({ length: 225 }, () => csv.slice(1)).flat();
    await writeFile(file, [csv[0], ...lines].join('\n'));
    const { evaluation } = await ask('high', undefined, { table: { path: file }, outputType: 'preds' });
    // Of more than 20,000 rows every second is scored.
    assert.deepEqual([evaluation?.rows, evaluation?.left_out], [11_250, 0]);
    const half = await evaluated(
      'high',
      NEWEST.filter((_, i) => i % 2 === 0),
    );
    assert.ok(Math.abs(evaluation!.scores.log_loss! - half.scores.log_loss!) < 1e-9);
  });

  it('leaves the target out of what a model predicts from whose columns are not known', async () => {
    const unknown = { ...cards.high!, columns: [], cleaned: undefined };
    const features = without(NEWEST, 'now', 'level');
    const { scores } = await evaluated('high', features, { model: unknown });
    assert.deepEqual(scores, (await evaluated('high', NEWEST)).scores);
  });

  it('names what keeps a table from being scored', async () => {
    const failure = async (...asked: Parameters<typeof ask>): Promise<string> => {
      const error = (await ask(...asked).catch((thrown: unknown) => thrown)) as Error & { code: string };
      return `${error.code}: ${error.message}`;
    };
    assert.match(
      await failure('level', without(NEWEST, 'level')),
      /^target\.missing: The table lacks the column "level"/,
    );
    const text = NEWEST.map((one) => ({ ...one, level: 'much' }));
    assert.match(await failure('level', text), /^table\.invalid: .*"level".*row 1/);
    const numbers = NEWEST.map((one) => ({ ...one, high: 'maybe' }));
    assert.match(
      await failure('high', numbers),
      /^table\.invalid: The column "high" holds maybe, and the model "high" knows no, yes/,
    );
    const bare = { model: undefined, fittedTrainSetId: 'f-1', task: 'regression' } as const;
    assert.match(await failure('', NEWEST, bare), /^target\.missing: .*not known here/);
    assert.match(await failure('high', NEWEST, { testSetUploadId: 'u' }), /^config\.invalid: Only a table/);
    assert.match(await failure('', NEWEST, { api: 'v1', modelId: 'm' }), /^config\.invalid: Only a table/);
    // A label that the model does not know among others counts as wrong.
    const some = NEWEST.map((one, i) => ({ ...one, high: i === 0 ? 'maybe' : one.high }));
    const { scores, curves: drawn } = await evaluated('high', some);
    assert.ok(scores.log_loss! > cards.high!.scores!.log_loss!);
    assert.equal(drawn?.kind === 'classes' && drawn.others, true);
  });
});

describe('evaluating predictions of a hosted service', () => {
  let at: Bench;
  const said: string[] = [];
  beforeEach(async () => {
    said.length = 0;
    at = await bench();
    await at.connection.train({
      table: { value: history() },
      target: 'size',
      model: 'm',
      ignore: ['species'],
    });
  });
  afterEach(() => at.close());

  const truth = Array.from({ length: 12 }, (_, id) => ({ ...row(id), size: id }));
  const predict = async (value: unknown, more: Partial<PredictRequest> = {}): Promise<PredictOutcome> => {
    const predictor = at.connection.predictor({ onWarning: (text) => said.push(text) });
    try {
      return await predictor.predict({ model: 'm', table: { value }, evaluate: true, ...more });
    } finally {
      await predictor.close();
    }
  };
  const predicts = (): number => at.service.requests.filter(({ route }) => route === 'predict').length;

  it('says what it takes, asks for what is lacking alone, and refuses before anything is sent', async () => {
    const { evaluation } = await predict(truth);
    assert.deepEqual([evaluation?.rows, evaluation?.baseline_from, predicts()], [12, 'train-set', 2]);
    assert.match(said.join(), /^Scoring predictions against the target asks the service for 12 more rows/);
    await predict(truth, { outputType: 'main', quantiles: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] });
    assert.equal(predicts(), 3);
    const sent = at.service.requests.length;
    assert.equal(await codeOf(predict(without(truth, 'size'))), 'target.missing');
    assert.equal(at.service.requests.length, sent);
  });

  it('costs the evaluation and never the predictions where the service does not answer', async () => {
    at.service.fault('predict', ({ n }) => (n === 0 ? undefined : { status: 400, body: { detail: 'no' } }));
    const { evaluation, table } = await predict(truth);
    assert.equal(evaluation, undefined);
    assert.equal((table as Row[])[3]?.prediction, 3);
    assert.match(said.join('\n'), /The rows are predicted, but could not be scored: /);
  });

  it('fails one of the messages that share a request, and no other', async () => {
    const predictor = at.connection.predictor();
    const asked = [truth[1]!, { ...truth[2]!, size: 'large' }, truth[3]!].map((value) =>
      predictor.predict({ model: 'm', table: { value }, evaluate: true }).then(
        ({ evaluation }) => evaluation?.scores.mae,
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    assert.deepEqual(await Promise.all(asked), [0, 'table.invalid', 0]);
    await predictor.close();
  });
});
