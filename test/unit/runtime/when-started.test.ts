import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';

import type { Red } from '../../doors/runtime';
import { fakeNode, fakeRuntime } from './fake';

describe('what waits for the flows to start', () => {
  it('is done once for each node that is still there, of any number of nodes by one listener', () => {
    const events = new EventEmitter();
    const red = { events } as unknown as Red;
    const done: number[] = [];
    const nodes = Array.from({ length: 30 }, (_, i) => fakeNode(`n${i}`));
    nodes.forEach((node, i) => fakeRuntime({}, red, node).whenStarted(() => done.push(i)));
    // Node.js warns of a leak from the eleventh on.
    assert.equal(events.listenerCount('flows:started'), 1);
    nodes[7]!.emit('close');
    events.emit('flows:started');
    events.emit('flows:started');
    assert.deepEqual(
      done,
      nodes.map((_, i) => i).filter((i) => i !== 7),
    );
    fakeRuntime({}, red, nodes[7]).whenStarted(() => done.push(7));
    events.emit('flows:started');
    assert.equal(done.at(-1), 7, 'nodes of a later deploy');
    assert.equal(events.listenerCount('flows:started'), 1);
  });
});
