import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { ModelCard } from '../../dist/src/connection';
import { modelChanged, type Red } from '../doors/runtime';
import { ModelCards } from '../doors/scoring';
import { ownIdentity } from '../doors/util';
import { failing } from '../helpers/failing-files';
import { waitFor } from '../helpers/wait';
import { type Anything, type Bench, server, startBench, stopBench } from './bench';

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 2);

/** The row of minute `i`, and how it is known. */
const row = (i: number) => ({ load: i % 7, temperature: 60 + (i % 5) });
const address = (i: number, key: string | null = null) => ({
  ...{ key, time: START + i * MINUTE, ahead: 5 * MINUTE },
  id: `${key} ${i}`,
});
const band = (middle: number, half = 1) => ({ '0.1': middle - half, '0.5': middle, '0.9': middle + half });

describe('tabular-watch', () => {
  afterEach(stopBench);

  const start = (properties: object = {}, more: object = {}): Promise<Bench> =>
    startBench({ nodes: [{ id: 'w', type: 'tabular-watch', ...properties }], ...more });
  /** All that was sent so far is worked off. */
  const settled = (bench: Bench, count: number) =>
    waitFor(`${count} messages done`, () =>
      bench.completed.all.length + bench.caught.all.length >= count ? true : undefined,
    );
  const predict = (bench: Bench, i: number, prediction: unknown, more: object = {}) =>
    bench.send('w', { payload: { ...row(i), prediction }, series: address(i), model_name: 'motor', ...more });
  const tell = (bench: Bench, i: number, truth: unknown) =>
    bench.send('w', { payload: {}, series: address(i), truth });
  /** The first so many rows, each with its outcome. */
  const live = (bench: Bench, rows: number, more: object = {}): void => {
    for (let i = 0; i < rows; i++) {
      predict(bench, i, band(50), more);
      tell(bench, i, 52);
    }
  };
  const changes = async (bench: Bench, count = 1): Promise<Anything[]> =>
    (await bench.out('w', 1).first(count)).map(({ change }) => change);
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

  it('lets predictions go at once, with bands that hold what came, and changes nothing else', async () => {
    const bench = await start();
    const given = { ...row(0), prediction: band(50), note: 'kept' };
    const own = [[49], [50], [51]];
    bench.send('w', { payload: given, series: address(0), model_name: 'motor', prediction: own, topic: 't' });
    const [first] = await bench.out('w').first();
    assert.deepEqual(first!.payload, given);
    assert.deepEqual(first!.prediction, own, 'the answer of the service stays as it is');
    assert.equal(first!.topic, 't');
    assert.deepEqual(first!.watch, { live: { measure: 'mae', rows: 0 }, shift: 0, widen: 1 });
    // What comes lies 3 above, each time: the bands follow.
    for (let i = 1; i < 200; i++) {
      predict(bench, i, band(50));
      tell(bench, i, 53 + (i % 3) / 10);
    }
    await settled(bench, 399);
    assert.equal(bench.out('w').all.length, 200, 'an outcome leaves nothing');
    const { payload, watch } = bench.out('w').all.at(-1)!;
    assert.ok(payload.prediction['0.5'] > 52 && payload.prediction['0.5'] < 54, payload.prediction['0.5']);
    assert.deepEqual({ ...payload, prediction: 0 }, { ...row(199), prediction: 0 });
    near(payload.prediction['0.5'] - watch.shift, 50);
    assert.equal(watch.live.rows, 198);
    near(watch.live.loss, 3.1);
    near(watch.coverage.told, 0.8);
    assert.ok(watch.coverage.held > 0.7 && watch.coverage.rows === 198);
    await waitFor('the status', () => (bench.progress('w')?.rows === 199 ? true : undefined));
    assert.deepEqual([bench.caught.all, bench.out('w', 1).all], [[], []]);
  });

  it('corrects a table in the form in which it came: rows, columns, a matrix; with main, too', async () => {
    const bench = await start();
    live(bench, 60);
    await settled(bench, 120);
    const seen = bench.out('w').all.length;
    const series = [address(100), address(101)];
    const main = { mean: 50, median: 50, mode: 50, quantiles: band(50) };
    const rows = [
      { ...row(0), prediction: band(50) },
      { ...row(1), prediction: main },
    ];
    const columns = { load: [0, 1], prediction: [band(50), main] };
    const matrix = [
      ['load', 'prediction'],
      [0, band(50)],
      [1, main],
    ];
    const typed = { ...columns, load: Float64Array.of(0, 1) };
    for (const payload of [rows, columns, matrix, typed]) {
      bench.send('w', { payload: structuredClone(payload), series, model_name: 'motor' });
    }
    const [asRows, asColumns, asMatrix, asTyped] = (await bench.out('w').first(seen + 4))
      .slice(seen)
      .map(({ payload }) => payload);
    const [one, two] = asRows.map(({ prediction }: Anything) => prediction);
    assert.ok(one['0.5'] > 51 && one['0.5'] < 53);
    assert.equal(two.median, one['0.5']);
    assert.deepEqual(two.quantiles, one);
    assert.deepEqual(asRows[1], { ...row(1), prediction: two });
    assert.deepEqual(asColumns, { load: [0, 1], prediction: [one, two] });
    assert.deepEqual(asTyped, { load: Float64Array.of(0, 1), prediction: [one, two] });
    assert.deepEqual(asMatrix, [
      ['load', 'prediction'],
      [0, one],
      [1, two],
    ]);
    bench.send('w', { truth: [52, 52], series });
    await settled(bench, 125);
    await waitFor('both outcomes', () => (bench.progress('w')?.rows === 62 ? true : undefined));
  });

  it('leaves bands as they are where the dialog says so; reads another property, and a table elsewhere', async () => {
    const bench = await start({ honest: false, property: 'forecast', table: 'rows' });
    for (let i = 0; i < 60; i++) {
      bench.send('w', { rows: { forecast: band(50) }, series: address(i), model_name: 'motor' });
      tell(bench, i, 52);
    }
    const sent = await bench.out('w').first(60);
    assert.deepEqual(sent.at(-1)!.rows, { forecast: band(50) });
    assert.equal(sent.at(-1)!.watch.live.rows, 59);
    near(sent.at(-1)!.watch.live.loss, 2);
  });

  it('scores labels with their probabilities, and labels alone', async () => {
    const bench = await start();
    const ask = (i: number, model: string, more: object) =>
      bench.send('w', { payload: { prediction: 'yes', ...more }, series: address(i), model_name: model });
    for (let i = 0; i < 40; i++) {
      ask(i, 'sure', { prediction_probabilities: { no: 0.2, yes: 0.8 } });
      ask(i, 'plain', {});
      tell(bench, i, i % 4 === 0 ? 'no' : 'yes');
    }
    await settled(bench, 120);
    ask(40, 'sure', { prediction_probabilities: { no: 0.2, yes: 0.8 } });
    ask(40, 'plain', {});
    const [sure, plain] = (await bench.out('w').first(82)).slice(-2);
    assert.deepEqual(sure!.payload, { prediction: 'yes', prediction_probabilities: { no: 0.2, yes: 0.8 } });
    assert.equal(sure!.watch.live.measure, 'log_loss');
    near(sure!.watch.live.loss, -0.75 * Math.log(0.8) - 0.25 * Math.log(0.2));
    near(sure!.watch.coverage.held, 0.75);
    assert.equal(plain!.watch.live.measure, 'error');
    near(plain!.watch.live.loss, 0.25);
  });

  it('raises an alarm after three readings, clears it, and tells both in words', async () => {
    const bench = await start({ alarmOn: 'upper', raise: '80' });
    for (const [i, middle] of [70, 79.5, 79.5, 78, 79.5, 79.5, 79.5, 90, 60, 60, 60].entries()) {
      predict(bench, i, band(middle));
    }
    const [raised, cleared] = await bench.out('w', 1).first(2);
    assert.deepEqual(
      { ...raised!.change, text: '' },
      { what: 'alarm', model: 'motor', since: START + 4 * MINUTE, value: 80.5, limit: 80, text: '' },
    );
    assert.equal(raised!.payload, raised!.change.text);
    assert.equal(raised!.model_name, 'motor');
    assert.equal(cleared!.change.what, 'cleared');
    assert.ok(!('train' in raised!) && !('watch' in raised!));
    assert.equal(bench.out('w').all.length, 11);
  });

  it('tells with an alarm what the prediction that raised it rests on, and keeps no more of it', async () => {
    const bench = await start({ alarmOn: 'value', raise: '80', alarmFor: 1 });
    const cause = (i: number) => ({ column: 'load', effect: i, text: `load ${i} raised it`, usual: [1, 2] });
    const odd: Anything = { column: 'load', effect: 1, text: '' };
    odd.itself = odd;
    const given: Anything[] = [undefined, [cause(1), odd, null], 'load', [odd]];
    for (const [i, why] of given.entries()) {
      predict(bench, 2 * i, 90, { payload: { ...row(i), prediction: 90, prediction_why: why } });
      predict(bench, 2 * i + 1, 20);
    }
    await settled(bench, 8);
    const alarms = (await changes(bench, 8)).filter(({ what }) => what === 'alarm');
    assert.deepEqual(
      alarms.map(({ causes }) => causes),
      [undefined, [{ column: 'load', effect: 1, text: 'load 1 raised it' }], undefined, undefined],
    );
    assert.match(alarms[1].text, /change\.causes/);
    assert.doesNotMatch(alarms[0].text, /change\.causes/);
  });

  it('asks a series node for a train set by the wire back when the model has decayed; nothing else does', async () => {
    const bench = await startBench({
      nodes: [
        {
          ...{ id: 'w', type: 'tabular-watch', alarmOn: 'value', raise: 56, clear: 55, alarmFor: 1 },
          wires: [[], ['s', 'told']],
        },
        { id: 's', type: 'tabular-series', column: 'temperature', ahead: '5m', windows: '5m', train: '1d' },
      ],
      extra: [{ id: 'told', type: 'helper', z: 'flow', x: 1, y: 1 }],
    });
    const told: Anything[] = [];
    bench.node('told').on('input', (msg: Anything) => told.push(msg));
    for (let i = 0; i < 60; i++) {
      bench.send('s', { payload: { time: START + i * MINUTE, temperature: 60 + (i % 5) } });
    }
    await settled(bench, 60);
    // The readings alone bring no train set: less than 200 outcomes.
    assert.equal(bench.out('s', 2).all.length, 0);
    for (let from = 0; from < 1000; from += 10) {
      const rows = Array.from({ length: 10 }, (_, i) => from + i);
      const series = rows.map((i) => address(i));
      const payload = rows.map((i) => ({ prediction: i === 5 ? 60 : 50 }));
      bench.send('w', { payload, series, model_name: 'motor' });
      bench.send('w', { truth: rows.map((i) => 50 + (i < 700 ? 1 : 3) * Math.sin(i * 1.7)), series });
    }
    const [set] = await bench.out('s', 2).first();
    assert.equal(set!.train.reason, 'decay');
    assert.equal(set!.payload.length, 55);
    await settled(bench, 263);
    assert.deepEqual(
      told.map(({ change }) => change.what as string),
      ['alarm', 'cleared', 'decay'],
    );
    const { change, train } = told[2] as { change: Anything; train: object };
    assert.deepEqual(train, { reason: 'decay', model: 'motor' });
    assert.ok(change.value > 1.15 * change.limit && change.since >= START + 600 * MINUTE);
    await waitFor('what the series made of them', () =>
      bench.completed.all.length >= 263 ? true : undefined,
    );
    assert.deepEqual(bench.caught.all, []);
    assert.equal(bench.out('s', 2).all.length, 1);
  });

  it('knows truth that comes early, twice, of no row and of no prediction, without an error', async () => {
    const bench = await start();
    predict(bench, 0, 50);
    tell(bench, 1, 52);
    predict(bench, 1, 50);
    tell(bench, 0, 51);
    tell(bench, 0, 90);
    tell(bench, 7, 60);
    bench.send('w', { truth: null, series: address(3) });
    await settled(bench, 7);
    predict(bench, 2, 50);
    const { watch } = (await bench.out('w').first(3))[2]!;
    assert.deepEqual(watch.live, { measure: 'mae', rows: 2, loss: 1.5 });
    assert.deepEqual(bench.caught.all, []);
  });

  it('refuses what is neither a prediction nor a truth, and says what is missing; passes rows without a model', async () => {
    const bench = await start();
    const refused: [object, string, RegExp][] = [
      [{ payload: 'hello' }, 'validation.failed', /neither a prediction nor a truth/],
      [{}, 'validation.failed', /neither a prediction nor a truth: msg.payload/],
      [
        { payload: { forecast: 1 }, series: address(0), model_name: 'm' },
        'validation.failed',
        /has no "prediction".*Attach as/,
      ],
      [{ payload: { prediction: 1 }, series: address(0) }, 'model.unknown', /msg.model_name/],
      [
        { payload: { prediction: 1 }, series: [], model_name: 'm' },
        'validation.failed',
        /1 predictions and 0/,
      ],
      [
        { payload: { prediction: 1 }, series: 'row 1', model_name: 'm' },
        'validation.failed',
        /msg.series must be/,
      ],
      [{ payload: { prediction: 1 }, series: {}, model_name: 'm' }, 'validation.failed', /needs an id/],
      [{ truth: 3 }, 'validation.failed', /msg.series must be/],
      [{ truth: [1, 2], series: [address(0)] }, 'validation.failed', /2 values and msg.series 1/],
      [{ payload: Promise.resolve(1) }, 'table.invalid', /promise/],
      [{ payload: Object.assign([{ prediction: 1 }], { 5_000_000: 1 }) }, 'table.invalid', /sparse/],
      [
        {
          payload: Object.fromEntries(
            Array(20_000)
              .fill(0)
              .map((_, i) => [i, i]),
          ),
        },
        'limit.exceeded',
        /columns/,
      ],
    ];
    for (const [msg, code, why] of refused) {
      bench.send('w', msg);
      const caught = (await bench.caught.first(refused.findIndex(([one]) => one === msg) + 1)).at(-1)!;
      assert.equal(caught.error!.code, code, caught.error!.message);
      assert.match(caught.error!.message, why);
    }
    bench.send('w', { payload: row(0), series: address(0) });
    const [passed] = await bench.out('w').first();
    assert.deepEqual(passed!.payload, row(0));
    assert.ok(!('watch' in passed!));
  });

  it('names the field of an alarm that is missing', async () => {
    const bench = await startBench({
      nodes: [
        { id: 'w', type: 'tabular-watch', alarmOn: 'value' },
        { id: 'l', type: 'tabular-watch', alarmOn: 'probability', raise: 0.5 },
      ],
    });
    for (const [id, field] of [
      ['w', /Raise at/],
      ['l', /Class/],
    ] as const) {
      const before = bench.caught.all.length;
      bench.send(id, { payload: { prediction: 1 }, series: address(0), model_name: 'm' });
      const caught = (await bench.caught.first(before + 1)).at(-1)!;
      assert.equal(caught.error!.code, 'config.invalid');
      assert.match(caught.error!.message, field);
    }
  });

  describe('with a folder that stays', () => {
    let userDir: string;
    beforeEach(() => {
      userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-watch-'));
    });
    afterEach(async () => {
      await stopBench();
      fs.rmSync(userDir, { recursive: true, force: true });
    });

    const card = (name: string, id: string, more: Partial<ModelCard> = {}): ModelCard => ({
      ...{ name, fitted_train_set_id: id, train_set_upload_id: 'u', task: 'regression', target: 'y' },
      ...{ columns: [], rows: 100, options: {}, service: 'embedded', fitted_at: '2026-03-01T00:00:00.000Z' },
      scores: { from: 'out-of-fold', rows: 100, mae: 2, baseline: { rows: 100, mae: 9 } },
      ...{ version: 1, versions: [] },
      ...more,
    });
    it('tells times of the week by the zone of the dialog, else by the newest one that a message names', async () => {
      const folder = path.join(userDir, 'tabular-prediction', 'watch');
      const zone = async (properties: object, ...told: unknown[]): Promise<unknown> => {
        const bench = await start(properties, { userDir });
        predict(bench, 0, band(50));
        tell(bench, 0, 50);
        told.forEach((timezone, i) => predict(bench, i + 1, band(50), { timezone }));
        await settled(bench, 2 + told.length);
        assert.deepEqual(
          bench.caught.all.map(({ error }) => error!.code),
          told.includes('Atlantis') ? ['validation.failed'] : [],
        );
        await bench.stop();
        const [, head] = fs.readFileSync(path.join(folder, 'w.json'), 'utf8').split('\n');
        return JSON.parse(head!).scored.weekly.zone;
      };
      const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
      assert.equal(await zone({}), here);
      assert.equal(await zone({}, 'Asia/Tokyo', undefined, 'Atlantis'), 'Asia/Tokyo');
      assert.equal(await zone({ timezone: 'America/Lima' }, 'Asia/Tokyo'), 'America/Lima');
    });

    it('goes on after a restart and a deploy where it stopped', async () => {
      let bench = await start({}, { userDir });
      live(bench, 60);
      predict(bench, 60, band(50));
      await settled(bench, 121);
      const { prediction } = bench.out('w').all.at(-1)!.payload;
      await bench.stop();
      bench = await start({ id: 'w' }, { userDir });
      await waitFor('the kept numbers', () => (bench.progress('w')?.rows === 60 ? true : undefined));
      tell(bench, 60, 52);
      predict(bench, 61, band(50));
      const [next] = await bench.out('w').first();
      assert.equal(next!.watch.live.rows, 61);
      assert.ok(Math.abs(next!.payload.prediction['0.5'] - prediction['0.5']) < 0.1);
      await bench.redeploy();
      await waitFor('the kept numbers', () => (bench.progress('w')?.rows === 61 ? true : undefined));
      assert.deepEqual(bench.caught.all, []);
    });

    it('keeps nothing, without a warning, where outcomes came and no prediction yet', async () => {
      const file = path.join(userDir, 'tabular-prediction', 'watch', 'w.json');
      for (const left of [undefined, '\n']) {
        let bench = await start({}, { userDir });
        tell(bench, 0, 52);
        await settled(bench, 1);
        await bench.stop();
        fs.writeFileSync(file, left ?? fs.readFileSync(file));
        bench = await start({}, { userDir });
        predict(bench, 1, band(50));
        await bench.out('w').first();
        await bench.stop();
        assert.deepEqual(
          bench.warnings().filter((text) => text.includes('watchState')),
          [],
        );
        fs.rmSync(file);
      }
    });

    it('begins anew, with one warning, where the file is damaged', async () => {
      const folder = path.join(userDir, 'tabular-prediction', 'watch');
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, 'w.json'), '{"model":"motor","lines":3}\n{"v":');
      const bench = await start({}, { userDir });
      predict(bench, 0, 50);
      const [first] = await bench.out('w').first();
      assert.equal(first!.watch.live.rows, 0);
      await bench.stop();
      assert.equal(bench.warnings().filter((text) => text.includes('watchState')).length, 1);
      const kept = fs.readFileSync(path.join(folder, 'w.json'), 'utf8');
      assert.match(kept, /^\{"model":"motor","lines":2,"crc":\d+\}\n/);
      // A number that is another one is JSON still.
      fs.writeFileSync(path.join(folder, 'w.json'), kept.replace('"predictions":1', '"predictions":7'));
      const changed = await start({}, { userDir });
      predict(changed, 1, 50);
      await changed.out('w').first();
      await changed.stop();
      assert.equal(changed.warnings().filter((text) => text.includes('watchState')).length, 1);
    });

    it('leaves a file that cannot be read now as it is, and warns once; predictions go on', async () => {
      const folder = path.join(userDir, 'tabular-prediction', 'watch');
      const seen = await start({}, { userDir });
      predict(seen, 0, 50);
      tell(seen, 0, 52);
      await settled(seen, 2);
      await seen.stop();
      const kept = fs.readFileSync(path.join(folder, 'w.json'), 'utf8');
      const mend = failing(['readFile'], 'EMFILE', /w\.json$/);
      try {
        const bench = await start({}, { userDir });
        predict(bench, 1, 50);
        predict(bench, 2, 50);
        await bench.out('w').first(2);
        await bench.stop();
        assert.equal(bench.warnings().filter((text) => text.includes('watchUnread')).length, 1);
      } finally {
        mend();
      }
      assert.equal(fs.readFileSync(path.join(folder, 'w.json'), 'utf8'), kept);
      const later = await start({}, { userDir });
      predict(later, 3, 50);
      const [first] = await later.out('w').first();
      assert.equal(first!.watch.live.rows, 1);
    });

    it('leaves a file that another process works on as it is, and warns once; predictions go on', async () => {
      const folder = path.join(userDir, 'tabular-prediction', 'watch');
      const lock = path.join(folder, 'w.json.lock');
      fs.mkdirSync(lock, { recursive: true });
      // The process of this test under another token: one that runs.
      const owner = { ...ownIdentity('another'), id: 'another' };
      fs.writeFileSync(path.join(lock, 'owner.json'), JSON.stringify(owner));
      const beat = setInterval(() => fs.utimesSync(lock, new Date(), new Date()), 100);
      try {
        const bench = await start({}, { userDir });
        predict(bench, 1, 50);
        predict(bench, 2, 50);
        await bench.out('w').first(2);
        await bench.stop();
        assert.equal(bench.warnings().filter((text) => text.includes('watchUnread')).length, 1);
        assert.deepEqual(fs.readdirSync(folder), ['w.json.lock']);
      } finally {
        clearInterval(beat);
      }
    });

    it('leaves a file of a newer version, or a link, as it is, and warns once; predictions go on', async () => {
      const folder = path.join(userDir, 'tabular-prediction', 'watch');
      const file = path.join(folder, 'w.json');
      fs.mkdirSync(folder, { recursive: true });
      const elsewhere = path.join(userDir, 'elsewhere.json');
      fs.writeFileSync(elsewhere, '');
      for (const [how, newer] of [
        ['a line', '{"model":"motor","lines":1}\n{"v":2,"opened":{}}\n'],
        ['a heading', '{"version":2,"models":["motor"]}\n'],
        ['a link', undefined],
      ] as const) {
        fs.rmSync(file, { force: true });
        if (newer === undefined) {
          fs.symlinkSync(elsewhere, file);
        } else {
          fs.writeFileSync(file, newer);
        }
        const bench = await start({}, { userDir });
        predict(bench, 1, 50);
        predict(bench, 2, 50);
        await bench.out('w').first(2);
        await bench.stop();
        assert.equal(bench.warnings().filter((text) => text.includes('watchUnread')).length, 1, how);
        assert.equal(fs.readFileSync(file, 'utf8'), newer ?? '', how);
        assert.equal(fs.lstatSync(file).isSymbolicLink(), newer === undefined);
      }
    });

    describe('beside the cards of models', () => {
      let cards: ModelCards;
      beforeEach(() => {
        cards = ModelCards.open({
          path: path.join(userDir, 'tabular-prediction', 'models.json'),
          service: 'embedded',
        });
      });
      afterEach(() => cards.close());
      /** A model, its card on disk. */
      const keep = (...kept: Parameters<typeof card>) => {
        cards.put(card(...kept));
        return cards.flush();
      };

      it('tells when a fit replaces the model, whose bands then keep their width and lose their shift', async () => {
        await keep('motor', 'one');
        const bench = await start({}, { userDir });
        live(bench, 60);
        await settled(bench, 120);
        const before = bench.out('w').all.at(-1)!;
        assert.equal(before.watch.live.promised, 2);
        assert.ok(before.watch.shift > 1);
        cards.put(card('motor', 'two'));
        predict(bench, 60, band(50));
        const after = (await bench.out('w').first(61))[60]!;
        assert.equal(after.watch.shift, 0);
        // What missed the band before it was shifted still counts.
        assert.ok(after.watch.widen > 1 && after.watch.widen <= 2, after.watch.widen);
        assert.equal(after.payload.prediction['0.5'], 50);
        assert.deepEqual(
          (await changes(bench)).map(({ what }) => what as string),
          ['model'],
        );
        assert.ok(!('train' in bench.out('w', 1).all[0]!));
        // What the model before it had predicted still finds its truth.
        tell(bench, 60, 53);
        await settled(bench, 122);
        await bench.stop();
      });

      it('tells at once, without a prediction, when another version takes over; not of one asked for by number', async () => {
        await keep('motor', 'one');
        const bench = await start({}, { userDir });
        const red = { comms: { publish: () => undefined } } as unknown as Red;
        live(bench, 30);
        await settled(bench, 60);
        cards.put(card('motor', 'two'));
        modelChanged(red, 'motor');
        const [change] = await changes(bench);
        assert.deepEqual([change.what, change.model, change.value], ['model', 'motor', 2]);
        await waitFor('the status', () => (bench.status('w').includes('watch.new') ? true : undefined));
        predict(bench, 30, band(50));
        tell(bench, 30, 53);
        await waitFor('the status', () => (bench.status('w').includes('watch.lossOf') ? true : undefined));
        assert.equal(bench.out('w', 1).all.length, 1, 'told once');
        const by = { predicted_by: { name: 'motor', fitted_train_set_id: 'one' } };
        await keep('motor', 'three');
        await bench.stop();
        // Kept from before: the version in charge is followed only where it is the one that was watched.
        const later = await start({}, { userDir });
        await waitFor('the status', () => (later.status('w').includes('watch.') ? true : undefined));
        modelChanged(red, 'motor');
        predict(later, 31, band(50), by);
        await later.out('w').first();
        await settled(later, 1);
        const told = later.out('w', 1).all.length;
        cards.put(card('motor', 'four'));
        modelChanged(red, 'motor');
        tell(later, 31, 50);
        await settled(later, 2);
        assert.equal(later.out('w', 1).all.length, told);
        await later.stop();
      });

      it('tells that outcomes have stopped, and then which column is no longer as in the train set', async () => {
        const drift = [{ edges: [0, 10], shares: [0.1, 0.8, 0.1, 0], threshold: 0.3 }];
        await cards.references.put('one', {
          columns: [{ name: 'load', type: 'number' }],
          ...{ rows: [], usual: [], drift },
        });
        await keep('motor', 'one');
        const bench = await start({}, { userDir });
        const send = (from: number): void => {
          const payload = Array.from({ length: 50 }, () => ({ load: 30, prediction: 50 }));
          const series = payload.map((_, i) => address(from + i));
          bench.send('w', { payload, series, model_name: 'motor' });
        };
        send(0);
        await settled(bench, 1);
        assert.deepEqual(bench.out('w', 1).all, [], 'no outcome can come between the rows of one table');
        for (let from = 50; from < 500; from += 50) {
          send(from);
        }
        const [silent, drifted] = await changes(bench, 2);
        assert.equal(silent.what, 'no_truth');
        assert.equal(drifted.what, 'drift');
        assert.ok(drifted.value > 0.3 && drifted.limit === 0.3);
        assert.deepEqual(
          drifted.why.map(({ column, threshold }: Anything) => [column, threshold]),
          [['load', 0.3]],
        );
        await settled(bench, 10);
        await bench.stop();
      });

      it('counts what was on its way while a fit took over for the model that made it; another version may be watched', async () => {
        await keep('motor', 'one');
        const bench = await start({}, { userDir });
        const by = (id: string) => ({ predicted_by: { name: 'motor', fitted_train_set_id: id } });
        live(bench, 60, by('one'));
        cards.put(card('motor', 'two'));
        predict(bench, 60, band(80), by('two'));
        predict(bench, 61, band(50), by('one'));
        const sent = await bench.out('w').first(62);
        assert.equal(sent[60]!.payload.prediction['0.5'], 80);
        assert.ok(sent[61]!.payload.prediction['0.5'] > 51, 'with the correction of its own model');
        for (const [i, truth] of [
          [61, 52],
          [60, 80.5],
        ] as const) {
          tell(bench, i, truth);
        }
        predict(bench, 62, band(80), by('two'));
        const last = (await bench.out('w').first(63))[62]!;
        assert.deepEqual([last.watch.live.rows, last.watch.live.loss], [1, 0.5]);
        // A version that predicts on purpose, and was not in charge lately.
        cards.put(card('motor', 'three'));
        cards.put(card('motor', 'four'));
        predict(bench, 63, band(80), by('three'));
        predict(bench, 64, band(80), by('three'));
        const told = await changes(bench, 2);
        assert.deepEqual(
          told.map(({ what, value }) => [what, value]),
          [
            ['model', 2],
            ['model', 3],
          ],
        );
        await settled(bench, 127);
        assert.equal(bench.out('w', 1).all.length, 2);
        await bench.stop();
      });

      it('knows a model under its new name', async () => {
        await keep('motor', 'one');
        const bench = await start({}, { userDir });
        live(bench, 60);
        predict(bench, 60, band(50));
        await settled(bench, 121);
        cards.rename('motor', 'engine');
        predict(bench, 61, band(50), { model_name: 'engine' });
        tell(bench, 60, 52);
        predict(bench, 62, band(50), { model_name: 'engine' });
        const after = (await bench.out('w').first(63))[62]!;
        assert.ok(after.watch.shift > 1, 'with what it knew');
        assert.equal(after.watch.live.rows, 61);
        assert.deepEqual(bench.out('w', 1).all, []);
        await bench.stop();
      });

      it('keeps its state while it is disabled, and not when it is deleted', async () => {
        const bench = await start({}, { userDir });
        predict(bench, 0, band(50));
        await bench.out('w').first();
        const file = path.join(userDir, 'tabular-prediction', 'watch', 'w.json');
        await bench.redeploy('full');
        assert.ok(fs.existsSync(file));
        for (const type of ['nodes', 'full'] as const) {
          await bench.change('w', { d: true }, type);
          assert.ok(fs.existsSync(file), `disabled, ${type}`);
          await bench.change('w', { d: false }, type);
        }
        await bench.change('w', undefined, 'nodes');
        assert.ok(!fs.existsSync(file));
        await bench.stop();
      });

      it('does not count rows that the model has learned from', async () => {
        await keep('motor', 'one', { trained_until: new Date(START + 50 * MINUTE).toISOString() });
        const bench = await start({ alarmOn: 'value', raise: 10, alarmFor: 2 }, { userDir });
        const payload = Array.from({ length: 53 }, (_, i) => ({ ...row(i), prediction: 50 }));
        bench.send('w', { payload, series: payload.map((_, i) => address(i)), model_name: 'motor' });
        const [table] = await bench.out('w').first();
        assert.deepEqual(table!.payload, payload);
        assert.deepEqual(
          (await changes(bench)).map(({ what, since }) => [what, since]),
          [['alarm', START + 51 * MINUTE]],
        );
        bench.send('w', { truth: payload.map(() => 51), series: payload.map((_, i) => address(i)) });
        await settled(bench, 2);
        await waitFor('two outcomes', () => (bench.progress('w')?.rows === 2 ? true : undefined));
        await bench.stop();
      });

      it('counts rows of a machine that is behind the others from its own newest one on', async () => {
        const time = (minutes: number): number => START + minutes * MINUTE;
        cards.put(card('motor', 'one', { trained_until: new Date(time(50)).toISOString() }));
        const until = [
          { key: 'ahead', to: time(50) },
          { key: 'behind', to: time(20) },
        ];
        await cards.references.put('one', { columns: [], rows: [], usual: [], drift: [], until });
        await cards.flush();
        const bench = await start({ alarmOn: 'value', raise: 10, alarmFor: 1 }, { userDir });
        const series = ['ahead', 'behind', 'new', undefined].map((key) =>
          Array.from({ length: 60 }, (_, i) => ({ ...address(i), id: `${key} ${i}`, key })),
        );
        for (const one of series) {
          const payload = one.map((_, i) => ({ ...row(i), prediction: 50 }));
          bench.send('w', { payload, series: one, model_name: 'motor' });
        }
        const told = await bench.out('w', 1).first(4);
        assert.deepEqual(
          told.map(({ change }) => [change.key, change.since]),
          [
            ['ahead', time(51)],
            ['behind', time(21)],
            ['new', time(0)],
            [undefined, time(51)],
          ],
        );
        await bench.stop();
      });

      it('tells the sidebar of a model, of the node that knows most of it, and null where none watches it', async () => {
        await server.start();
        try {
          cards.put(card('motor/1 °C', 'one'));
          await keep('other', 'two');
          const bench = await startBench({
            nodes: [
              { id: 'v', type: 'tabular-watch' },
              { id: 'w', type: 'tabular-watch', model: 'motor/1 °C', alarmOn: 'value', raise: '40' },
            ],
            userDir,
          });
          const name = 'motor/1 °C';
          bench.send('v', { payload: { prediction: band(50) }, series: address(0), model_name: name });
          const why = [{ column: 'load', text: 'load 7 raised it' }];
          for (let i = 0; i < 30; i++) {
            const payload = { prediction: band(50), prediction_why: why };
            bench.send('w', { payload, series: address(i), model_name: 'other' });
            tell(bench, i, 50.5);
          }
          await settled(bench, 61);
          const get = async (route: string): Promise<Anything> =>
            (await bench.request().get(`/tabular-prediction/${route}`).expect(200)).body;
          const known = await get(`watch/${encodeURIComponent(name)}`);
          assert.equal(known.model, name);
          assert.equal(known.live.rows, 30);
          near(known.live.loss, 0.5);
          assert.equal(known.recent.length, 30);
          assert.deepEqual(Object.keys(known.recent[0]).sort(), [
            ...['ahead', 'high', 'low', 'prediction', 'time', 'truth'],
          ]);
          assert.deepEqual(known.causes, why);
          assert.equal(await get('watch/models'), null);
          const [service] = await get('models');
          const [other, listed] = service.models;
          assert.deepEqual(listed.live, { measure: 'mae', rows: 30, loss: 0.5, promised: 2, decayed: false });
          assert.equal(other.live, undefined);
          assert.deepEqual([listed.alarms, other.alarms], [1, undefined]);
          const shown = (model: string) => get(`sidebar/c/model?name=${encodeURIComponent(model)}`);
          assert.deepEqual([(await shown(name)).watched, (await shown('other')).watched], [true, false]);
          await bench.stop();
        } finally {
          await server.stop();
        }
      });
    });
  });
});
