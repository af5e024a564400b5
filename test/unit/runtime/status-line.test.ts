import assert from 'node:assert/strict';

import { STATUS_WIDTH, StatusLine, widthOfText } from '../../doors/runtime';
import { stoppedClock } from '../../helpers/clock';
import { longestStatuses } from '../../helpers/longest-statuses';
import { fakeNode, fakeRed, redIn } from './fake';

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

  it('says one row in the singular', () => {
    const node = fakeNode();
    for (const [language, ...wanted] of [
      ['en-US', '2 rows', '1 row', '1 row sent', '1 row, already there', '1 outcome · MAE 1'],
      ['de', '2 Zeilen', '1 Zeile', '1 Zeile gesendet', '1 Zeile, schon da', '1 Ergebnis · MAE 1'],
      ['ja', '2 行', '1 行', '1行送信', '1行(送信済み)', '結果 1 件 · MAE 1'],
    ] as const) {
      const status = new StatusLine(node, redIn(language));
      const keys = ['series.rows', 'series.rows', 'uploaded.sent', 'uploaded.reused', 'watch.plain'];
      const texts = keys.map((key, i) => status.text(key, { rows: i === 0 ? 2 : 1, loss: 'MAE 1' }));
      assert.deepEqual(texts, wanted);
    }
  });

  it('is at most 30 columns wide in each language, with the longest values that it may have', () => {
    for (const language of ['en-US', 'de', 'ja']) {
      const wide = [...longestStatuses(language)].filter(([, text]) => widthOfText(text) > STATUS_WIDTH);
      assert.deepEqual(wide, [], language);
    }
  });

  it('is cut where a name in it is longer; a character of Japanese takes two columns', () => {
    const node = fakeNode();
    const status = new StatusLine(node, redIn('en-US'));
    const billed = (model: string) => {
      status.show('ready', 'billed.model', { model });
      clock.pass(300);
      return node.statuses.at(-1)!.text;
    };
    assert.equal(billed('model-of-this-release-3'), 'billed as model-of-this-relea…');
    assert.equal(billed('予測モデル'), 'billed as 予測モデル');
    assert.equal(billed('予測モデル予測モデル予測'), 'billed as 予測モデル予測モデ…');
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

  it('comes to rest after an error where the state that a message left is shown meanwhile', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.fail('table.invalid');
    line.become(() => ({ kind: 'ready', key: 'fitted.plain' }));
    line.rest();
    clock.pass(300);
    assert.match(node.statuses.at(-1)?.text ?? '', /status\.ready/);
  });

  it('shows what a message brought about until there is work again', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    line.tell('billed.model', { model: 'm' });
    line.rest();
    clock.pass(300);
    assert.match(node.statuses.at(-1)?.text ?? '', /billed\.model/);
    line.begin();
    line.rest();
    clock.pass(300);
    assert.match(node.statuses.at(-1)?.text ?? '', /status\.ready/);
  });

  it('shows what it shows without work only until a message has something to show', () => {
    const node = fakeNode();
    const line = new StatusLine(node, fakeRed());
    const idle = (key: string): string => {
      line.showIdle({ kind: 'plain', key });
      clock.pass(300);
      return node.statuses.at(-1)!.text!.replace(/^.*:status\./, '');
    };
    assert.equal(idle('embedded'), 'embedded');
    assert.equal(idle('fitted.plain'), 'fitted.plain');
    line.literal('busy', 'row 1');
    assert.equal(idle('embedded'), 'row 1');
    assert.equal(idle('fitted.plain'), 'row 1');
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
