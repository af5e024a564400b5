import assert from 'node:assert/strict';

import { modelChanged, nodeChanged, type Red } from '../../doors/runtime';
import { waitFor } from '../../helpers/wait';

describe('notices of changed models', () => {
  it('are one for a burst of changes, and hold no values', async () => {
    const sent: [string, Record<string, unknown>][] = [];
    const publish = (topic: string, data: Record<string, unknown>): void => void sent.push([topic, data]);
    const red = { comms: { publish } } as unknown as Red;
    for (let i = 0; i < 5000; i++) {
      modelChanged(red, 'pump');
    }
    await waitFor('a notice', () => (sent.length > 0 ? true : undefined));
    assert.equal(sent.length, 1);
    const [topic, data] = sent[0]!;
    assert.equal(topic, 'tabular-prediction/changed');
    assert.deepEqual(Object.keys(data), ['model', 'models', 'revision']);
    for (const name of ['a', 'b', 'a']) {
      modelChanged(red, name);
    }
    await waitFor('the next', () => (sent.length > 1 ? true : undefined));
    assert.deepEqual(Object.keys(sent[1]![1]), ['models', 'revision'], 'several: none is named');
    assert.ok(Number(sent[1]![1].revision) > Number(data.revision));
  });

  it('tell readings of a machine from what the list shows of it', async () => {
    const sent: Record<string, unknown>[] = [];
    const publish = (_topic: string, data: Record<string, unknown>): void => void sent.push(data);
    const red = { comms: { publish } } as unknown as Red;
    nodeChanged(red, 'pumps', false);
    await waitFor('a notice', () => sent[0]);
    nodeChanged(red, 'pumps', false);
    nodeChanged(red, 'pumps', true);
    await waitFor('the next', () => sent[1]);
    nodeChanged(red, 'pumps', true);
    modelChanged(red, 'pump');
    await waitFor('the last', () => sent[2]);
    sent.forEach((data) => delete data.revision);
    assert.deepEqual(sent, [
      { node: 'pumps' },
      { node: 'pumps', machines: true },
      { models: true, machines: true },
    ]);
  });
});
