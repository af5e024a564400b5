import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { StatusEvent, TrainRequest } from '../../../dist/src/connection';
import { inTurn } from '../../helpers/strict-service';
import { type Bench, bench, codeOf, history } from './stand-in';

describe('Connection.train', () => {
  let at: Bench;
  afterEach(() => at.close());
  const train = (request: Partial<TrainRequest> = {}) =>
    at.connection.train({ table: { value: history() }, target: 'species', model: 'pets', ...request });

  it('uploads, fits, and keeps the model card under its name', async () => {
    at = await bench();
    const statuses: StatusEvent[] = [];
    const { card, reused, taskFound } = await at.connection.train(
      {
        table: { value: history() },
        target: 'species',
        ignore: ['size'],
        model: 'pets',
        options: { n_estimators: 4 },
        systems: ['text'],
        description: 'the pets',
      },
      { onStatus: (status) => statuses.push(status) },
    );
    assert.equal(reused, false);
    assert.equal(taskFound, true);
    const { doubts, ...rest } = card;
    assert.match(doubts!.join('\n'), /^The column "ok" holds the target.*\nThe column "id" numbers/);
    assert.deepEqual(
      { ...rest, fitted_train_set_id: '', train_set_upload_id: '', fitted_at: '' },
      {
        name: 'pets',
        doubted_columns: ['ok', 'id'],
        fitted_train_set_id: '',
        train_set_upload_id: '',
        task: 'classification',
        target: 'species',
        columns: [
          { name: 'id', type: 'integer' },
          { name: 'name', type: 'text' },
          { name: 'ok', type: 'boolean' },
        ],
        classes: ['cat', 'dog'],
        rows: 20,
        options: { n_estimators: 4 },
        service: at.service.url,
        fitted_at: '',
        order: 'none',
        cleaned: {
          rows_left_out: 0,
          cells_missing: {},
          types: { id: 'integer', name: 'text', ok: 'boolean', species: 'text' },
        },
        version: 1,
        versions: [{ version: 1, fitted_at: card.fitted_at, rows: 20, doubted: true, why: 'first' }],
      },
    );
    assert.deepEqual(at.cards.get('pets'), card);
    assert.deepEqual(
      (await at.service.rowsOf(card.train_set_upload_id, 'y')).map((row) => row.species),
      history().map((row) => row.species),
    );
    assert.deepEqual(statuses[0], { key: 'reading' });
    const read = statuses.flatMap((status) => (status.key === 'reading' ? [status.fraction ?? 0] : []));
    assert.deepEqual([read[0], read.at(-1)], [0, 1]);
    assert.ok(statuses.some((status) => status.key === 'uploading' && status.sent === status.total));
    assert.ok(statuses.some((status) => status.key === 'fitting'));
    const fit = at.service.seen('fit')[0]!.body as Record<string, unknown>;
    assert.deepEqual(fit.svc_systems, ['text']);
    assert.deepEqual(at.service.breaches, []);
  });

  it('warns once where the fit saved work, and the card says so', async () => {
    at = await bench();
    const reasons = ['Each tree sees 40 % of the rows.', 'Boosting ended at the work budget.'];
    const report = { work: { limited: true, reasons } };
    at.service.fault('fit', inTurn({ patch: { report } }, { patch: { report: { work: { reasons: [] } } } }));
    const warnings: string[] = [];
    const fit = (forceRefit: boolean) =>
      at.connection.train(
        {
          table: { value: history() },
          target: 'species',
          ignore: ['id', 'ok'],
          model: 'pets',
          forceRefit,
        },
        { onWarning: (text) => warnings.push(text) },
      );
    const { card } = await fit(false);
    assert.deepEqual(card.limited, reasons);
    assert.deepEqual(at.cards.get('pets')?.limited, reasons);
    assert.equal(
      warnings.join(),
      `The model "pets" is fitted, but its fit had to save work: ${reasons.join(' ')}`,
    );
    assert.equal((await fit(false)).reused, true);
    assert.equal((await fit(true)).card.limited, undefined);
    assert.equal(warnings.length, 1);
  });

  it('what a flow does to its cards changes nothing here', async () => {
    at = await bench();
    const { card } = await train({ options: { n_estimators: 2 } });
    card.columns.length = 0;
    card.options.n_estimators = 9;
    assert.equal(at.cards.get('pets')?.columns.length, 4);
    assert.deepEqual(at.cards.get('pets')?.options, { n_estimators: 2 });
    const again = await train({ options: { n_estimators: 2 } });
    assert.equal(again.reused, true);
    again.card.columns.length = 0;
    assert.equal(at.cards.get('pets')?.columns.length, 4);
  });

  it('finds the task out: text, booleans and few whole numbers are classes', async () => {
    at = await bench();
    const values: [string, unknown[], string][] = [
      ['text', ['a', 'b'], 'classification'],
      ['booleans', [true, false], 'classification'],
      ['ten whole numbers', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 'classification'],
      ['eleven whole numbers', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'regression'],
      ['fractions', [0.5, 1], 'regression'],
    ];
    for (const [what, targets, task] of values) {
      const table = Array.from({ length: 22 }, (_, x) => ({ x, y: targets[x % targets.length] }));
      const { card } = await at.connection.train({ table: { value: table }, target: 'y', model: what });
      assert.equal(card.task, task, what);
      assert.equal(card.classes === undefined, task === 'regression', what);
    }
    assert.deepEqual(at.service.breaches, []);
  });

  it('an unchanged train set with unchanged options asks for no fit, unless forced or found dead', async () => {
    at = await bench();
    const first = await train();
    const requests = at.service.requests.length;
    const again = await train();
    assert.equal(again.reused, true);
    assert.equal(again.card.fitted_train_set_id, first.card.fitted_train_set_id);
    assert.equal(at.service.requests.length, requests);
    const named = await train({ model: 'other name' });
    assert.equal(named.reused, true);
    assert.equal(at.cards.get('other name')?.fitted_train_set_id, first.card.fitted_train_set_id);
    for (const change of [
      { options: { n_estimators: 2 } },
      { table: { value: history(21) } },
      { ignore: ['ok'] },
      { forceRefit: true },
      { forceReupload: true },
    ]) {
      assert.equal((await train(change)).reused, false, JSON.stringify(change));
    }
    const { card } = await train({ forceRefit: true });
    at.cards.markDead(card.fitted_train_set_id);
    at.cards.markDead(first.card.fitted_train_set_id);
    const fits = at.service.seen('fit').length;
    await train({ description: 'x' });
    assert.ok(at.service.seen('fit').length >= fits);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a model of another learner, as after an update of the embedded learner, is not taken for this one', async () => {
    at = await bench();
    const fits = () => at.service.seen('fit').length;
    const request = { table: { value: history() }, target: 'species', model: 'pets' };
    const [older, newer] = ['learner 1', 'learner 2'].map((learner) => at.connect({ learner }));
    assert.equal((await older!.train(request)).reused, false);
    assert.equal((await older!.train(request)).reused, true);
    assert.equal(fits(), 1);
    assert.equal((await newer!.train(request)).reused, false);
    assert.equal((await newer!.train(request)).reused, true);
    assert.equal(fits(), 2);
  });

  it('a train set beyond the limits errs before a byte is sent', async () => {
    at = await bench({ limits: { max_model_limit: { train_set_max_rows: 19, max_classes: 1 } } });
    await assert.rejects(train(), (error: Error) => /at most 19 rows, and this has 20/.test(error.message));
    assert.equal(await codeOf(train()), 'limit.exceeded');
    assert.equal(at.service.seen('prepare_train_set_upload').length, 0);
  });

  it('the limits are those of the version in model_path, and of the encoded size', async () => {
    at = await bench({
      limits: {
        default_model_version: 'v2',
        model_limits: { v2: { train_set_max_rows: 1 }, 'v3.5': { train_set_max_rows: 100 } },
        dataset_max_size_bytes: 1_000_000,
      },
    });
    assert.equal(await codeOf(train()), 'limit.exceeded');
    assert.equal(await codeOf(train({ options: { model_path: 'v3.5_default' } })), 'none');
    await at.close();
    at = await bench({ limits: { dataset_max_size_bytes: 10 } });
    assert.equal(await codeOf(train()), 'limit.exceeded');
    assert.equal(at.service.seen('prepare_train_set_upload').length, 0);
  });

  it('a service without the limits route: no checks, one warning', async () => {
    at = await bench();
    at.service.fault('get_model_limits', () => ({
      status: 404,
      body: { message: 'no', error_code: 'NOT_FOUND' },
    }));
    await train();
    await train({ forceRefit: true });
    assert.equal(at.logs.length, 1);
  });

  it('a reused upload that fit refuses is sent again, once', async () => {
    at = await bench();
    const first = await train();
    const other = at.connect();
    at.cards.markDead(first.card.fitted_train_set_id);
    at.service.fault('fit', inTurn({ status: 404, body: { message: 'gone', error_code: 'NOT_FOUND' } }));
    const { card } = await other.train({ table: { value: history() }, target: 'species', model: 'pets' });
    assert.notEqual(card.train_set_upload_id, first.card.train_set_upload_id);
    const prepared = at.service
      .seen('prepare_train_set_upload')
      .map((seen) => seen.body as { force_reupload?: boolean });
    assert.deepEqual(
      prepared.map((body) => body.force_reupload ?? false),
      [false, false, true],
    );
    at.service.fault('fit', () => ({ status: 404, body: { message: 'gone', error_code: 'NOT_FOUND' } }));
    at.cards.markDead(card.fitted_train_set_id);
    assert.equal(await codeOf(train()), 'not_found');
    assert.deepEqual(at.service.breaches, []);
  });

  it('from an upload: its card is known by id, or comes with the message; else the task must be chosen', async () => {
    at = await bench();
    const upload = await at.connection.upload({
      set: 'train',
      table: { value: history() },
      target: 'species',
    });
    assert.deepEqual(
      [upload.rows, upload.target, upload.classes, upload.reused, upload.columns.length],
      [20, 'species', ['cat', 'dog'], false, 4],
    );
    const { card } = await at.connection.train({ trainSetUploadId: upload.id, model: 'pets' });
    assert.equal(card.task, 'classification');
    assert.equal(card.rows, 20);
    assert.equal(card.columns.length, 4);
    const again = await at.connection.upload({
      set: 'train',
      table: { value: history() },
      target: 'species',
    });
    assert.equal(again.reused, true);
    assert.equal(again.id, upload.id);
    const foreign = await at.connection.upload({
      set: 'train',
      table: { value: history(5) },
      target: 'size',
      forceReupload: true,
    });
    const elsewhere = await bench();
    try {
      assert.equal(
        await codeOf(elsewhere.connection.train({ trainSetUploadId: foreign.id, model: 'm' })),
        'config.invalid',
      );
    } finally {
      await elsewhere.close();
    }
    assert.deepEqual(at.service.breaches, []);
  });

  it('bad tables have their codes, and nothing is sent', async () => {
    at = await bench();
    const cases: [string, Partial<TrainRequest>][] = [
      ['target.missing', { target: 'nope' }],
      ['target.missing', { target: undefined }],
      ['table.empty', { table: { value: [] } }],
      ['table.invalid', { table: { value: 7 } }],
      ['table.invalid', { table: { value: [{ x: { y: 1 }, species: 'a' }] } }],
      ['table.invalid', { table: { value: [{ species: 'a' }, { species: 'b' }] } }],
      ['table.invalid', { task: 'regression' }],
      [
        'table.invalid',
        {
          missingTarget: 'error',
          table: {
            value: [
              { x: 1, species: 'a' },
              { x: 2, species: null },
            ],
          },
        },
      ],
      ['file.unreadable', { table: { path: '/no/such/file.csv' } }],
    ];
    for (const [code, request] of cases) {
      assert.equal(await codeOf(train(request)), code, JSON.stringify(request));
    }
    assert.equal(at.service.seen('prepare_train_set_upload').length, 0);
  });

  it('a target of text that reads as numbers: one warning, or a part of the error', async () => {
    at = await bench();
    const rows = (count: number): unknown[] =>
      Array.from({ length: count }, (_, i) => ({
        x: (i * 7) % count,
        y: `${i},5`,
        z: i % 2 === 0 ? '0' : '1',
      }));
    const hint = 'Column "y" is text that reads as numbers ("0,5", row 1): set Column types {"y":"number"}.';
    const warnings: string[] = [];
    const fit = (count: number, request: Partial<TrainRequest> = {}) =>
      at.connection.train(
        { table: { value: rows(count) }, target: 'y', ignore: ['z'], model: 'm', ...request },
        { onWarning: (warning) => warnings.push(warning) },
      );
    const { card } = await fit(30);
    assert.equal(card.task, 'classification');
    assert.deepEqual(warnings, [`${hint} Column types {"y":"text"} keeps it as text without this warning.`]);
    await assert.rejects(fit(30, { task: 'regression' }), {
      code: 'table.invalid',
      message: `Regression needs a target of numbers. ${hint}`,
    });
    await assert.rejects(fit(300), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'limit.exceeded');
      assert.match(error.message, /at most \d+ classes, and this has 300/);
      return error.message.endsWith(hint);
    });
    assert.equal(warnings.length, 1);
    const numbers = await fit(30, { types: { y: 'number' } });
    assert.equal(numbers.card.task, 'regression');
    assert.deepEqual((await at.service.rowsOf(numbers.card.train_set_upload_id, 'y')).slice(0, 2), [
      { y: 0.5 },
      { y: 1.5 },
    ]);
    await assert.rejects(fit(30, { target: 'x', types: { x: 'text', y: 'text' }, task: 'regression' }), {
      message:
        'The target "x" holds text, and regression needs numbers: choose classification, or give the column numbers.',
    });
    // Few whole numbers are classes, as text too.
    await fit(30, { target: 'z', ignore: ['y'] });
    assert.equal(warnings.length, 1);
  });

  it('a target that is always the same, and a single row, are told of', async () => {
    at = await bench();
    const warned = async (rows: unknown[], task?: 'regression'): Promise<string[]> => {
      const warnings: string[] = [];
      const { card } = await at.connection.train(
        { table: { value: rows }, target: 'y', model: 'm', task },
        { onWarning: (warning) => warnings.push(warning) },
      );
      // The card keeps what a log forgets.
      assert.deepEqual(card.doubts ?? [], warnings);
      return warnings;
    };
    const rows = (y: unknown): unknown[] => Array.from({ length: 60 }, (_, x) => ({ x: x % 7, y }));
    assert.deepEqual(await warned(rows('yes')), [
      'The target "y" has one class only, "yes", in all 60 rows: the model can answer nothing else.',
    ]);
    assert.deepEqual(await warned(rows(5.5)), [
      'The target "y" is always 5.5, in all 60 rows: the model can answer nothing else.',
    ]);
    assert.deepEqual(await warned(rows(5), 'regression'), [
      'The target "y" is always 5, in all 60 rows: the model can answer nothing else.',
    ]);
    assert.match((await warned([{ x: 1, y: 'a' }])).join('|'), /^The train set has one row: [^|]*$/);
    assert.deepEqual(await warned([...rows('yes'), { x: 31, y: 'no' }]), []);
  });

  it('an error of the target names a row', async () => {
    at = await bench();
    const fit = (table: unknown, task?: 'regression') =>
      at.connection.train({ table: { value: table }, target: 'y', model: 'm', task, missingTarget: 'error' });
    const rows = (odd: unknown): unknown[] =>
      Array.from({ length: 30 }, (_, i) => ({ x: i, y: i === 7 ? odd : i * 1.5 }));
    await assert.rejects(fit(rows(null)), /The target "y" is missing in 1 of 30 rows, first in row 8:/);
    await assert.rejects(fit(rows('NA')), /missing in 1 of 30 rows, first in row 8:/);
    await assert.rejects(fit('x,y\n1,2.5\n2,\n3,NA\n'), /missing in 2 of 3 rows, first in row 2:/);
    await assert.rejects(fit('x,y\n1,2.5\n2,NA\n3,\n'), /missing in 2 of 3 rows, first in row 2:/);
    await assert.rejects(
      fit(rows('n/v'), 'regression'),
      /Regression needs a target of numbers. Column "y" is text, since 1 of its 30 cells .*"n\/v" \(row 8\).*Missing words/,
    );
    await assert.rejects(
      fit('x,y\n1,2.5\n2,low\n', 'regression'),
      /holds text \("low", row 2\), and regression/,
    );
  });

  it('an abort settles a fit under way with the code closed; so does close', async () => {
    at = await bench({ fitMs: 5000 });
    const controller = new AbortController();
    const first = codeOf(
      at.connection.train(
        { table: { value: history() }, target: 'species', model: 'a' },
        {
          signal: controller.signal,
          onStatus: ({ key }) => {
            if (key === 'fitting') {
              controller.abort();
            }
          },
        },
      ),
    );
    assert.equal(await first, 'closed');
    const second = codeOf(train({ model: 'b' }));
    await at.connection.close();
    assert.equal(await second, 'closed');
    assert.equal(await codeOf(train({ model: 'c' })), 'closed');
    assert.equal(at.cards.fits.end('b'), undefined);
  });
});

describe('Connection.checkLimits and estimateCost', () => {
  let at: Bench;
  afterEach(() => at.close());

  it('names what is exceeded', async () => {
    at = await bench({
      limits: { max_model_limit: { train_set_max_rows: 10, test_set_max_rows: 100, max_cols: 3 } },
    });
    const table = { value: history() };
    assert.deepEqual(await at.connection.checkLimits({ table, target: 'species' }), [
      { limit: 'train_set_max_rows', value: 20, max: 10 },
      { limit: 'max_cols', value: 4, max: 3 },
    ]);
    assert.deepEqual(await at.connection.checkLimits({ table, set: 'test', ignore: ['species', 'ok'] }), []);
  });

  it('measures the file that would be sent: bytes of the larger one of a train set, of a Parquet file as it is', async () => {
    const rows = Array.from({ length: 3000 }, (_, id) => ({ id, noise: Math.sin(id), y: id % 2 === 0 }));
    const table = { value: rows };
    at = await bench();
    const { id } = await at.connection.upload({ set: 'train', table, target: 'y' });
    const file = at.service.bytesOf(id);
    const folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
    try {
      const where = path.join(folder, 'x.parquet');
      writeFileSync(where, file);
      await at.close();
      at = await bench({ limits: { dataset_max_size_bytes: file.length } });
      assert.deepEqual(await at.connection.checkLimits({ table, target: 'y' }), []);
      assert.deepEqual(await at.connection.checkLimits({ table: { path: where }, set: 'test' }), []);
      await at.close();
      at = await bench({ limits: { dataset_max_size_bytes: file.length - 1 } });
      const over = [{ limit: 'dataset_max_size_bytes', value: file.length, max: file.length - 1 }];
      assert.deepEqual(await at.connection.checkLimits({ table, target: 'y' }), over);
      assert.deepEqual(await at.connection.checkLimits({ table, ignore: ['y'], set: 'test' }), over);
      assert.deepEqual(await at.connection.checkLimits({ table: { path: where }, set: 'test' }), over);
      assert.equal(at.service.requests.length, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('fills the cost request from the card and the table, and asks once', async () => {
    at = await bench();
    const { card } = await at.connection.train({
      table: { value: history() },
      target: 'species',
      model: 'pets',
      options: { n_estimators: 3 },
    });
    assert.equal(await at.connection.estimateCost({ model: card, table: { value: history(7) } }), 27);
    assert.equal(await at.connection.estimateCost({ model: 'pets', testRows: 7 }), 27);
    assert.equal(await codeOf(at.connection.estimateCost({ model: 'nope', testRows: 7 })), 'model.unknown');
    assert.deepEqual(
      at.service.seen('estimate_cost').map((seen) => seen.body),
      [
        {
          operation: 'predict',
          model_version: 'v2',
          train_rows: 20,
          test_rows: 7,
          raw_columns: 4,
          n_estimators: 3,
        },
      ],
    );
    assert.deepEqual(at.service.breaches, []);
  });
});
