import assert from 'node:assert/strict';

import { StatusLine } from '../../doors/runtime';
import { stoppedClock } from '../../helpers/clock';
import { fakeNode, fakeRed } from './fake';

describe('StatusLine', () => {
  const clock = stoppedClock();

  it('shows the first at once, then the newest at most four times a second', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    for (let i = 0; i < 1000; i++) {
      line.literal('busy', `row ${i}`);
    }
    assert.deepEqual(node.statuses, [{ fill: 'blue', shape: 'dot', text: 'row 0' }]);
    clock.pass(400);
    assert.deepEqual(
      node.statuses.map(({ text }) => text),
      ['row 0', 'row 999'],
    );
  });

  it('takes its text from the shared catalogue', () => {
    const node = fakeNode();
    new StatusLine(node, fakeRed()).show('busy', 'uploading', { percent: 43 });
    assert.equal(
      node.statuses[0]?.text,
      'node-red-contrib-tabular-prediction/tabular-config:status.uploading {"percent":"43"}',
    );
  });

  it('says the same thing once', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.literal('ready', 'ready');
    clock.pass(300);
    line.literal('ready', 'ready');
    clock.pass(300);
    assert.equal(node.statuses.length, 1);
  });

  it('keeps an error until a message goes well, though the node comes to rest', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.fail('queue.full');
    line.rest();
    clock.pass(300);
    assert.equal(node.statuses.at(-1)?.text, 'queue.full');
    line.succeed();
    clock.pass(300);
    assert.match(node.statuses.at(-1)?.text ?? '', /status\.ready/);
  });

  it('lets a doubtful result stand after an error', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.fail('table.invalid');
    line.show('doubtful', 'fitted.accuracy', { score: 0 });
    line.succeed();
    clock.pass(300);
    assert.equal(node.statuses.at(-1)?.fill, 'yellow');
    assert.match(node.statuses.at(-1)?.text ?? '', /fitted\.accuracy/);
  });

  it('is cleared at the end and stays silent after it', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.literal('busy', 'a');
    line.literal('busy', 'b');
    line.end();
    line.literal('busy', 'c');
    clock.pass(300);
    assert.deepEqual(node.statuses.at(-1), {});
    assert.equal(node.statuses.length, 2);
  });
});
