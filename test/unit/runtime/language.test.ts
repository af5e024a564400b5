import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ModelCard } from '../../../dist/src/scoring';
import { Follower, showFitted, StatusLine } from '../../doors/runtime';
import { fakeNode, redIn } from './fake';

describe('numbers in a status', () => {
  async function statusIn(language: string, work: (status: StatusLine) => void): Promise<string> {
    const node = fakeNode();
    work(new StatusLine(node, redIn(language)));
    await sleep(300);
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
    ['en-US', 'uploading 50%, 2.5 MB/s, 2 s left'],
    ['de', 'lädt hoch 50 %, 2,5 MB/s, noch 2 s'],
    ['ja', 'アップロード中 50%、2.5 MB/s、残り2秒'],
  ] as const) {
    it(`a speed in ${language}`, async () => assert.equal(await statusIn(language, upload), text));
  }

  it('thousands and scores as the language writes them', async () => {
    const rows = (status: StatusLine) => status.show('ready', 'fitted.ready', { rows: 1_234_567 });
    assert.equal(await statusIn('en-US', rows), 'ready, 1,234,567 rows');
    assert.equal(await statusIn('de', rows), 'bereit, 1.234.567 Zeilen');
    const fitted = (status: StatusLine) =>
      showFitted(status, { scores: { accuracy: 0.907 } } as ModelCard, true);
    assert.equal(await statusIn('en-US', fitted), 'classification, accuracy 0.91');
    assert.equal(await statusIn('de', fitted), 'Klassifikation, Trefferquote 0,91');
    const cost = (status: StatusLine) => status.show('ready', 'cost', { tokens: 12_000.5 });
    assert.equal(await statusIn('de', cost), '12.000,5 Tokens');
  });
});
