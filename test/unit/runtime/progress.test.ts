import assert from 'node:assert/strict';

import { Follower, Pace, StatusLine } from '../../doors/runtime';
import { stoppedClock } from '../../helpers/clock';
import { fakeNode, fakeRed } from './fake';

const KEY = 'node-red-contrib-tabular-prediction/tabular-config:status.';

describe('Pace', () => {
  it('says nothing before a second, then speed and time left', () => {
    const pace = new Pace();
    pace.note(0, 0);
    pace.note(900, 900);
    assert.equal(pace.perSecond(), undefined);
    pace.note(2000, 2000);
    assert.equal(pace.perSecond(), 1000);
    assert.equal(pace.secondsLeft(5500), 4);
  });

  it('follows a change of speed within its window', () => {
    const pace = new Pace();
    for (let ms = 0; ms <= 10_000; ms += 100) {
      pace.note(ms, ms);
    }
    for (let ms = 100; ms <= 6_000; ms += 100) {
      pace.note(10_000 + ms / 10, 10_000 + ms);
    }
    assert.ok(Math.abs(pace.perSecond()! - 100) < 20, String(pace.perSecond()));
  });

  it('has no speed where bytes have to be sent again or nothing moves', () => {
    const pace = new Pace();
    pace.note(5000, 0);
    pace.note(1000, 2000);
    assert.equal(pace.perSecond(), undefined);
    assert.equal(pace.secondsLeft(9000), undefined);
  });
});

describe('Follower', () => {
  const clock = stoppedClock();

  /** The last status after events at the given milliseconds. */
  function last(...events: [number, Parameters<Follower['show']>[0]][]) {
    const node = fakeNode();
    let now = 0;
    const follower = new Follower(new StatusLine(node, fakeRed()), () => now);
    for (const [at, event] of events) {
      now = at;
      follower.show(event);
    }
    clock.pass(300);
    const { text, progress } = node.statuses.at(-1) as { text: string; progress?: object };
    return { text: text.replaceAll(KEY, ''), progress };
  }

  it('an upload: percent at once, then the time left', () => {
    const first = last([0, { key: 'uploading', sent: 430, total: 1000 }]);
    assert.deepEqual(first, {
      text: 'uploading {"percent":"43"}',
      progress: { phase: 'uploading', percent: 43, seconds: 0, bytes: 430, total_bytes: 1000 },
    });
    const later = last(
      [0, { key: 'uploading', sent: 0, total: 10_000_000 }],
      [2000, { key: 'uploading', sent: 4_000_000, total: 10_000_000 }],
    );
    assert.deepEqual(later, {
      text: 'uploadingAt {"percent":"40","time":"time.s {\\"value\\":\\"3\\"}"}',
      progress: {
        phase: 'uploading',
        percent: 40,
        seconds: 2,
        bytes: 4_000_000,
        total_bytes: 10_000_000,
        bytes_per_second: 2_000_000,
        seconds_left: 3,
      },
    });
  });

  it('never 100 % before all is sent, and 100 % for nothing', () => {
    const almost = last([0, { key: 'uploading', sent: 9_999, total: 10_000 }]);
    assert.equal((almost.progress as { percent: number }).percent, 99);
    const nothing = last([0, { key: 'uploading', sent: 0, total: 0 }]);
    assert.equal((nothing.progress as { percent: number }).percent, 100);
  });

  it('a fit: how long, and how far and how long still where the service knows', () => {
    assert.deepEqual(last([0, { key: 'fitting', seconds: 100 }]), {
      text: 'fitting {"time":"time.min {\\"value\\":\\"2\\"}"}',
      progress: { phase: 'fitting', seconds: 100 },
    });
    assert.deepEqual(last([0, { key: 'fitting', seconds: 2, fraction: 0.5 }]).progress, {
      phase: 'fitting',
      seconds: 2,
      percent: 50,
    });
    const known = last([0, { key: 'fitting', seconds: 30, fraction: 0.25 }]);
    assert.deepEqual(known.progress, { phase: 'fitting', seconds: 30, percent: 25, seconds_left: 90 });
    assert.match(known.text, /^fittingOf .*"percent":"25".*"time":"time\.min/);
  });

  it('a predict in parts: rows, and percent and time left where their number is known', () => {
    assert.equal(last([0, { key: 'predicting', done: 0, total: 100 }]).text, 'predicting');
    assert.deepEqual(last([0, { key: 'predicting', done: 40 }]), {
      text: 'predictingRows {"rows":"40"}',
      progress: { phase: 'predicting', seconds: 0, rows: 40 },
    });
    const known = last(
      [0, { key: 'predicting', done: 0, total: 100 }],
      [2000, { key: 'predicting', done: 40, total: 100 }],
    );
    assert.deepEqual(known.progress, {
      phase: 'predicting',
      seconds: 2,
      rows: 40,
      total_rows: 100,
      percent: 40,
      seconds_left: 3,
    });
  });

  it('reading: percent where the size of the table is known', () => {
    assert.deepEqual(last([0, { key: 'reading' }], [1500, { key: 'reading', fraction: 0.437 }]), {
      text: 'readingAt {"percent":"43"}',
      progress: { phase: 'reading', seconds: 1, percent: 43 },
    });
    assert.deepEqual(last([0, { key: 'reading' }], [1500, { key: 'reading', fraction: 1 }]), {
      text: 'readingEnd',
      progress: { phase: 'reading', seconds: 1, percent: 100 },
    });
    assert.deepEqual(last([0, { key: 'reading' }]), {
      text: 'reading',
      progress: { phase: 'reading', seconds: 0 },
    });
  });

  it('a new phase begins to count anew', () => {
    const { progress } = last(
      [0, { key: 'reading' }],
      [4000, { key: 'uploading', sent: 1, total: 2 }],
      [5000, { key: 'uploading', sent: 1, total: 2 }],
    );
    assert.equal((progress as { seconds: number }).seconds, 1);
  });
});
