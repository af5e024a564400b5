import assert from 'node:assert/strict';

import type { ExampleNode } from '../../scripts/examples/flow.mjs';
import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';

/** POST /fit, /mean and so on, each answering with the message that came out, or its error. */
function flow(service: StrictService): FlowNode[] {
  const flow = new TestFlow('strict');
  flow.hosted(service);
  const answer = flow.code('answer', 'const { req, res, ...rest } = msg; return { ...msg, payload: rest };');
  flow.wire(
    flow.node('catch', 'caught', { scope: null, uncaught: false }),
    flow.code('failed', 'msg.statusCode = 500; return msg;'),
    answer,
    flow.node('http response', 'out', { statusCode: '', headers: {} }),
  );
  const route = (name: string, kind: string, properties: object): ExampleNode => {
    const node = flow.tabular(kind, name, { table: 'payload', tableType: 'msg', ...properties });
    const body = flow.code(`body ${name}`, 'msg.payload = msg.payload.table ?? msg.payload; return msg;');
    flow.wire(flow.post(name), body, node, answer);
    return node;
  };
  route('fit', 'fit', { target: 'y', ignore: 'kind', model: 'numbers', task: 'regression' });
  route('fit-kind', 'fit', { target: 'kind', ignore: 'y', model: 'kinds' });
  const quantiles = { outputType: 'quantiles', quantiles: '0.1,0.5,0.9' };
  route('mean', 'predict', { property: 'p', model: 'numbers' });
  route('quantiles', 'predict', { property: 'p', model: 'numbers', ...quantiles });
  route('full', 'predict', { property: 'p', model: 'numbers', outputType: 'full' });
  route('probas', 'predict', { property: 'p', model: 'kinds' });
  route('preds', 'predict', { property: 'p', model: 'kinds', outputType: 'preds' });
  route('unlike', 'predict', { property: 'p', model: 'kinds', ...quantiles });
  route('unfit', 'fit', { target: 'y', model: 'none', holdout: 99 });
  flow.wireOutput(route('limits', 'limits', { check: true }), 1, answer);
  route('cost', 'cost', { operation: 'predict', modelVersion: 'v2', nEstimators: 4 });
  return flow.nodes;
}

/** A table of whole `id`s with columns of every kind; the stand-in predicts from the id. */
function rows(ids: number[]): Record<string, unknown>[] {
  return ids.map((id) => ({
    id,
    'a number': id % 7 === 0 ? null : id / 3,
    text: ['älpha', 'b,"eta"', '😀 x\ny', ''][id % 4],
    flag: id % 2 === 0,
    constructor: id,
  }));
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

interface Answer {
  payload: { id: number; p: unknown }[] | { id: number; p: unknown };
  prediction: unknown;
  metadata: { test_set_num_rows: number; task: string };
  model_name: string;
  fitted_train_set_id: string;
  model: { task: string; classes?: string[] };
  limits?: unknown;
  limits_exceeded?: unknown;
  estimated_cost?: number;
}

describe('all nodes in a real Node-RED, against a strict service', function () {
  this.timeout(120_000);
  let service: StrictService;
  let red: RealNodeRed;

  before(async () => {
    service = await startStrictService({ chunks: 3, fitMs: 500 });
    red = await startNodeRed({ flows: [] });
    await red.deploy(flow(service));
  });

  after(async () => {
    assert.doesNotMatch(red.log(), new RegExp(service.token));
    await red.stop();
    await service.close();
  });

  afterEach(() => assert.deepEqual(service.breaches, []));

  const send = (route: string, table: unknown): Promise<Response> =>
    fetch(`${red.url}/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ table }),
    });

  async function post(route: string, table: unknown): Promise<Answer> {
    const answer = await send(route, table);
    const body = await answer.text();
    assert.equal(answer.status, 200, body);
    return JSON.parse(body) as Answer;
  }

  it('fits a regressor and a classifier', async () => {
    const train = rows(range(0, 300)).map((row, i) => ({ ...row, y: i / 2, kind: ['c', 'a', 'b'][i % 3] }));
    const [numbers, kinds] = await Promise.all([post('fit', train), post('fit-kind', train)]);
    assert.match(numbers.fitted_train_set_id, /^[0-9a-f-]{36}$/);
    const cards = [numbers.model, kinds.model];
    assert.deepEqual(
      cards.map((card) => card.task),
      ['regression', 'classification'],
    );
    assert.deepEqual(cards[1]!.classes, ['a', 'b', 'c']);
    assert.equal(service.seen('put').length, 12);
  });

  it('names a wrong field, and a choice that the model does not have, as the dialog shows them', async () => {
    for (const [route, message] of [
      [
        'unlike',
        'The field "Output" is "Quantiles", which a classification model does not have: choose "Class probabilities", "Labels only".',
      ],
      ['unfit', 'The field "Hold back" must be a number of at least 0 and at most 50.'],
    ] as const) {
      const answer = await send(route, rows([1]));
      assert.equal(answer.status, 500);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.deepEqual([error.code, error.message], ['config.invalid', message]);
    }
  });

  it('gives each of 300 messages at once its own prediction and its own metadata', async () => {
    const answers = await Promise.all(
      range(1000, 300).map(async (id) => ({ id, answer: await post('mean', rows([id])[0]) })),
    );
    for (const { id, answer } of answers) {
      const [row] = [answer.payload].flat();
      assert.deepEqual([row!.id, row!.p], [id, id]);
      assert.deepEqual(answer.prediction, [id]);
      assert.equal(answer.metadata.test_set_num_rows, 1);
      assert.equal(answer.model_name, 'numbers');
    }
    assert.ok(service.seen('predict').length < 300, 'messages that waited went together');
  });

  it('keeps tables of many sizes apart, for every output type', async () => {
    const outputs = ['mean', 'quantiles', 'full', 'probas', 'preds'];
    await Promise.all(
      range(0, 40).map(async (i) => {
        const output = outputs[i % outputs.length]!;
        const ids = range(i * 1000, 1 + ((i * 37) % 90));
        const answer = await post(output, rows(ids));
        const extra =
          output === 'quantiles'
            ? { quantiles: [0.1, 0.5, 0.9] }
            : output.startsWith('pr')
              ? { classes: ['a', 'b', 'c'] }
              : {};
        const expected: unknown = JSON.parse(JSON.stringify(service.predictionFor(ids, output, extra)));
        assert.deepEqual(answer.prediction, expected, output);
        assert.deepEqual(
          [answer.payload].flat().map((row) => row.id),
          ids,
        );
        assert.equal(answer.metadata.test_set_num_rows, ids.length);
      }),
    );
  });

  it('asks for limits and cost', async () => {
    const limits = await post('limits', rows([1, 2]));
    assert.ok(limits.limits);
    assert.equal(limits.limits_exceeded, undefined);
    const cost = await post('cost', rows([1, 2]));
    assert.equal(typeof cost.estimated_cost, 'number');
  });
});
