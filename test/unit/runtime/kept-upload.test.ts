import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';

import { columnsSeen, forgetColumns, offerKeptUpload, type Red } from '../../doors/runtime';
import { fakeNode, fakeRuntime } from './fake';

type Config = Parameters<typeof offerKeptUpload>[1];

describe('An upload node after a restart', () => {
  const uploads: Record<string, unknown> = { y: { columns: [{ name: 'a' }, { name: 'b' }] } };
  const config = {
    cards: () => ({ newestTrainSet: (target: string) => uploads[target] }),
  } as unknown as Config;

  for (const [target, columns] of [
    ['y', ['a', 'b', 'y']],
    ['other', []],
    ['', []],
  ] as const) {
    it(`with the target "${target}" offers the columns of what was uploaded for it`, () => {
      const events = new EventEmitter();
      const node = fakeNode(`upload-${target}`);
      offerKeptUpload(fakeRuntime({ target }, { events } as unknown as Red, node), config);
      assert.deepEqual(columnsSeen(node.id), []);
      events.emit('flows:started');
      assert.deepEqual(columnsSeen(node.id), columns);
      forgetColumns(node.id);
    });
  }
});
