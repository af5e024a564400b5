import assert from 'node:assert/strict';

import type { ModelCard } from '../../../dist/src/connection';
import { Follower, showFitted, StatusLine } from '../../doors/runtime';
import { stoppedClock } from '../../helpers/clock';
import { fakeNode, redIn } from './fake';

describe('numbers in a status', () => {
  const clock = stoppedClock();

  function statusIn(language: string, work: (status: StatusLine) => void): string {
    const node = fakeNode();
    work(new StatusLine(node, redIn(language)));
    clock.pass(300);
    return node.statuses.at(-1)!.text!;
  }

  const upload = (status: StatusLine): void => {
    let now = 0;
    const follower = new Follower(status, () => now);
    follower.show({ key: 'uploading', sent: 0, total: 10_000_000 });
    now = 2000;
    follower.show({ key: 'uploading', sent: 5_000_000, total: 10_000_000 });
  };

  for (const [language, text] of [
    ['en-US', 'uploading 50%, 2 s left'],
    ['de', 'lädt hoch 50 %, noch 2 s'],
    ['ja', 'アップロード中 50%、残り2秒'],
  ] as const) {
    it(`the time left in ${language}`, () => assert.equal(statusIn(language, upload), text));
  }

  it('thousands and scores as the language writes them', () => {
    const rows = (status: StatusLine) => status.show('ready', 'fitted.ready', { rows: 1_234_567 });
    assert.equal(statusIn('en-US', rows), 'ready, 1,234,567 rows');
    assert.equal(statusIn('de', rows), 'bereit, 1.234.567 Zeilen');
    const fitted = (status: StatusLine) =>
      showFitted(status, { scores: { accuracy: 0.907 } } as ModelCard, true);
    assert.equal(statusIn('en-US', fitted), 'accuracy 0.91');
    assert.equal(statusIn('de', fitted), 'Treffer 0,91');
    const cost = (status: StatusLine) => status.show('ready', 'cost', { tokens: 12_000.5 });
    assert.equal(statusIn('de', cost), '12.000,5 Tokens');
  });
});
