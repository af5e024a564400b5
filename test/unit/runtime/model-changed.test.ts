import assert from 'node:assert/strict';

import { modelChanged, type Red } from '../../doors/runtime';
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
    assert.deepEqual(Object.keys(data), ['model', 'revision']);
    for (const name of ['a', 'b', 'a']) {
      modelChanged(red, name);
    }
    await waitFor('the next', () => (sent.length > 1 ? true : undefined));
    assert.deepEqual(Object.keys(sent[1]![1]), ['revision'], 'several: none is named');
    assert.ok(Number(sent[1]![1].revision) > Number(data.revision));
  });
});
