import assert from 'node:assert/strict';

import type { TrainRequest } from '../../../dist/src/connection';
import { type Bench, bench } from './stand-in';

type Body = Record<string, unknown>;

/** 40 machines' rows, the newest last. */
const rows = (time: (i: number) => unknown = (i) => new Date(Date.UTC(2026, 0, 1, i)).toISOString()) =>
  Array.from({ length: 600 }, (_, i) => ({
    id: i % 17,
    machine: `m${i % 40}`,
    at: time(i),
    load: (i * 7) % 31,
    y: ((i * 7) % 31) + (i % 3),
  }));

describe('scoring: the folds of a thinking fit in a hosted service', () => {
  let b: Bench;
  beforeEach(async () => {
    b = await bench();
  });
  afterEach(async () => {
    await b.close();
    assert.deepEqual(b.service.breaches, []);
  });

  const train = async (request: Partial<TrainRequest>) => {
    const warnings: string[] = [];
    const { card } = await b.connection.train(
      {
        table: { value: rows() },
        target: 'y',
        task: 'regression',
        model: 'm',
        thinking: { effort: 'medium' },
        ...request,
      },
      { onWarning: (text) => warnings.push(text) },
    );
    const body = b.service.seen('fit').at(-1)!.body as Body;
    const sent = await b.service.rowsOf(card.train_set_upload_id);
    return { card, warnings, thinking: body.thinking_config as Body, columns: Object.keys(sent[0]!) };
  };

  for (const [what, request, folds] of [
    ['the group', { group: 'machine', order: 'none' }, { group_col: 'machine' }],
    ['the time', { order: 'time' }, { time_col: 'at' }],
    ['the time that is found', {}, { time_col: 'at' }],
    ['the group and its time', { group: 'machine' }, { group_col: 'machine', group_time_col: 'at' }],
    ['the time of groups that go on', { group: 'machine', folds: 'blocks' }, { time_col: 'at' }],
    ['nothing, where nobody says', { order: 'none' }, undefined],
  ] as [string, Partial<TrainRequest>, object | undefined][]) {
    it(`are drawn by ${what}, which the card tells`, async () => {
      const { card, thinking, columns, warnings } = await train(request);
      assert.deepEqual(thinking, { effort: 'medium', ...folds });
      assert.deepEqual(card.thinking_folds, folds);
      assert.deepEqual(columns, ['id', 'machine', 'at', 'load']);
      assert.deepEqual(
        warnings.filter((text) => /folds/.test(text)),
        [],
      );
    });
  }

  it('are drawn by a group that is ignored, which is sent all the same, and a warning says what that means', async () => {
    const { card, thinking, columns, warnings } = await train({
      group: 'machine',
      ignore: ['machine', 'id'],
      order: 'none',
    });
    assert.deepEqual(thinking, { effort: 'medium', group_col: 'machine' });
    assert.deepEqual(columns, ['machine', 'at', 'load']);
    assert.deepEqual(
      card.columns.map(({ name }) => name),
      columns,
    );
    assert.match(warnings.join('\n'), /group "machine" is sent although it is ignored/);
  });

  it('are drawn by a time in numbers, which is sent for that', async () => {
    const { thinking, columns } = await train({
      table: {
        value: rows((i) => 1_767_225_600 + i * 60).map(({ at, ...row }) => ({ ...row, timestamp: at })),
      },
      order: 'time',
    });
    assert.deepEqual(thinking, { effort: 'medium', time_col: 'timestamp' });
    assert.ok(columns.includes('timestamp'));
  });

  it('mix rows where no column tells the time, with a warning', async () => {
    const { card, thinking, warnings } = await train({ order: 'time', ignore: ['at'] });
    assert.deepEqual(thinking, { effort: 'medium' });
    assert.equal(card.thinking_folds, undefined);
    assert.match(warnings.join('\n'), /no column of the train set tells the time/);
  });

  it('are drawn by the columns of an upload, where it has them', async () => {
    const upload = await b.connection.upload({ set: 'train', table: { value: rows() }, target: 'y' });
    const given = { table: undefined, trainSetUploadId: upload.id };
    const { thinking } = await train({ ...given, group: 'machine', order: 'time' });
    assert.deepEqual(thinking, { effort: 'medium', group_col: 'machine', group_time_col: 'at' });
    const { thinking: other, warnings } = await train({ ...given, group: 'site', order: 'none' });
    assert.deepEqual(other, { effort: 'medium' });
    assert.match(warnings.join('\n'), /sent without the group "site"/);
  });

  it('are not spoken of where nothing thinks', async () => {
    const { thinking, card } = await train({ thinking: undefined, group: 'machine', ignore: ['machine'] });
    assert.equal(thinking, undefined);
    assert.equal(card.thinking_folds, undefined);
    assert.ok(!card.columns.some(({ name }) => name === 'machine'));
  });
});
