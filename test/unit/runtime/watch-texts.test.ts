import assert from 'node:assert/strict';

import type { AlarmOptions, ColumnMove, WatchChange, WatchReport } from '../../../dist/src/watch';
import { changeText, StatusLine, watchStatus } from '../../doors/runtime';
import { fakeNode, redIn } from './fake';

const LANGUAGES = ['en-US', 'de', 'ja'];
const change = (what: WatchChange['what'], more: Partial<WatchChange> = {}): WatchChange => ({
  ...{ what, model: 'motor', since: 0, value: 2.1 },
  ...more,
});
const WHY = [{ column: 'load', psi: 0.4, threshold: 0.2 }];

describe('what a watch node says', () => {
  it('has words for every change, in each language', () => {
    const all: [WatchChange, AlarmOptions?][] = [
      ...(['probability', 'value', 'upper', 'lower'] as const).flatMap(
        (on): [WatchChange, AlarmOptions][] => [
          [change('alarm', { limit: 80 }), { on, label: 'yes' }],
          [change('cleared', { limit: 72 }), { on, label: 'yes' }],
        ],
      ),
      ...(['mae', 'log_loss', 'error'] as const).map((measure): [WatchChange] => [
        change('decay', { measure, limit: 1.6, why: WHY }),
      ]),
      [change('recovered', { measure: 'mae', limit: 1.6 })],
      [change('drift', { why: WHY })],
      [change('no_truth', { value: 3_600_000 })],
      [change('model', { value: 4 })],
      [change('model', { value: 'some id' })],
    ];
    for (const language of LANGUAGES) {
      const red = redIn(language);
      const texts = [undefined, 'heat'].flatMap((target) =>
        all
          .filter(([{ what }]) => target === undefined || what === 'alarm' || what === 'cleared')
          .map(([one, alarm]) => changeText(red, { ...one, key: 'pump1' }, alarm, target)),
      );
      for (const text of texts) {
        assert.ok(text.startsWith('pump1: ') && !/change\.|status\.|undefined|__/.test(text), text);
      }
      assert.equal(new Set(texts).size, texts.length);
    }
  });

  it('gives numbers as a person would', () => {
    const red = redIn('en-US');
    const alarm = change('alarm', { value: 80.512, limit: 80 });
    assert.equal(
      changeText(red, alarm, { on: 'upper' }),
      'The upper edge of the band has reached 80.5 (alarm at 80).',
    );
    assert.equal(
      changeText(redIn('de'), change('decay', { value: 2.14, limit: 1.604, measure: 'mae', why: WHY }), {}),
      'Das Modell „motor“ ist schlechter geworden: MAE 2,1, versprochen 1,6. Anders als in der Trainingsmenge: "load".',
    );
    assert.equal(
      changeText(red, change('no_truth', { value: 3 * 3_600_000 }), {}),
      'The model "motor" has had no outcome for 3 h.',
    );
  });

  it('says of which machine an alarm is, and how far ahead', () => {
    const alarm = change('alarm', { value: 81, limit: 80, ahead: 3 * 3_600_000 });
    const said = (language: string, more: Partial<WatchChange>): string =>
      changeText(redIn(language), { ...alarm, ...more }, { on: 'value' }).split(':')[0]!;
    assert.equal(said('en-US', { key: 'pump 1' }), 'pump 1, 3 h ahead');
    assert.equal(said('en-US', { ahead: 90 * 60_000 }), '1.5 h ahead');
    assert.equal(said('de', { ahead: 600_000 }), 'in 10 min');
    assert.equal(said('de', { ahead: 2 * 86_400_000 }), 'in 2 Tagen');
    assert.equal(said('en-US', { key: 'pump 1', ahead: undefined }), 'pump 1');
  });

  it('says what an alarm rests on, where that is known', () => {
    const causes = ['vibration 7.9 raised "yes" by 31 points', 'load 3 lowered "yes" by 2 points'].map(
      (text) => ({ column: text.split(' ')[0]!, effect: 0.1, text }),
    );
    const alarm = change('alarm', { value: 0.81, limit: 0.5, causes });
    assert.equal(
      changeText(redIn('en-US'), alarm, { on: 'probability', label: 'yes' }),
      `The probability of "yes" has reached 81 % (alarm at 50 %). Causes: ${causes[0]!.text}; ${causes[1]!.text}.`,
    );
  });

  it('says what an alarm is of, where the target is known', () => {
    const [red, alarm] = [redIn('en-US'), change('alarm', { value: 0.9981, limit: 0.5, key: 'pump1' })];
    const yes = { on: 'probability', label: 'yes' } as const;
    assert.equal(
      changeText(red, alarm, yes, 'temperature > 85 within 10m'),
      'pump1: temperature > 85 within 10m: 99.8 % (alarm at 50 %).',
    );
    assert.equal(
      changeText(red, { ...alarm, what: 'cleared', value: 0.2 }, yes, 'ripe'),
      'pump1: The alarm is over. ripe = yes: 20 %.',
    );
    const value = { ...alarm, value: 85.21, limit: 85 };
    assert.equal(
      changeText(red, value, { on: 'value' }, 'temperature in 10m'),
      'pump1: temperature in 10m: predicted 85.2 (alarm at 85).',
    );
    assert.equal(
      changeText(red, { ...value, what: 'cleared' }, { on: 'upper' }, 'temperature in 10m'),
      'pump1: The alarm is over. temperature in 10m: upper edge of the band 85.2.',
    );
    assert.match(changeText(redIn('de'), alarm, yes, 'defekt'), /defekt = yes: 99,8 % \(Alarm ab 50 %\)/);
    assert.match(
      changeText(red, { ...alarm, value: 0.9999, limit: 0.0468 }, yes, 'ripe'),
      /99\.9 % .*4\.68 %/,
    );
  });

  it('says in words what is unlike the train set', () => {
    const said = (moved: ColumnMove, language = 'en-US'): string =>
      changeText(redIn(language), change('drift', { why: [{ ...WHY[0]!, moved }] }), {});
    const part = { now: 0.843, usual: 0.1 };
    assert.equal(
      said({ to: 'from', value: 71.2345, ...part }),
      'The rows are no longer like the train set of the model "motor": "load" is 71.23 or more in 84 % of the newest rows (10 % of the train set).',
    );
    for (const language of LANGUAGES) {
      for (const to of ['from', 'below', 'value', 'other', 'missing'] as const) {
        const text = said({ to, value: 'eco', ...part, usual: 0 }, language);
        assert.match(text, /load.*84 %|84 %.*load/);
        assert.doesNotMatch(text, /change\.|__/);
      }
    }
  });

  it('shows what was held and what was promised in the status', () => {
    const red = redIn('en-US');
    const counts = { open: 25, early: 0, unmet: 0 } as WatchReport['counts'];
    const status = (report: object, isOneOfSeveral = false): string => {
      const node = fakeNode();
      const shown = { model: 'motor', decayed: false, counts, ...report } as WatchReport;
      new StatusLine(node, red).become(() => watchStatus(red, shown, isOneOfSeveral));
      return node.statuses.at(-1)!.text!;
    };
    const live = { measure: 'mae', rows: 412, loss: 1.71, promised: 1.6 };
    const coverage = { told: 0.8, held: 0.78, rows: 412 };
    assert.equal(status({ live, coverage }), 'MAE 1.7 (promised 1.6)');
    assert.equal(status({ live }, true), 'motor: MAE 1.7 (promised 1.6)');
    const rare = { measure: 'log_loss', rows: 836, loss: 0.0186, promised: 0.0033 };
    assert.equal(status({ live: rare }), 'promised 0.0033, now 0.019');
    assert.equal(status({ live: rare, model: 'pump failure' }, true), 'pump failure: log loss 0.019');
    assert.equal(
      status({ live: rare, model: 'the failures of all pumps' }, true),
      'the failures of all pumps: lo…',
    );
    const unpromised = { ...live, promised: undefined };
    assert.equal(status({ live: unpromised, coverage }), '78% of 412 in band · MAE 1.7');
    const percent = { live: unpromised, coverage: { ...coverage, held: 0.997 } };
    assert.match(status(percent), /^99% of 412/);
    assert.equal(
      status({ live: { ...unpromised, rows: 4_120 }, coverage: { ...coverage, rows: 123_412 } }),
      '4,120 outcomes · MAE 1.7',
    );
    assert.equal(status({ live, coverage, version: 3, isNew: true }), 'version 3: no outcomes yet');
    assert.equal(status({ live: { measure: 'mae', rows: 0 } }), 'awaiting outcomes: 25');
    assert.equal(status({ live: { measure: 'mae', rows: 0 }, counts: { open: 0 } }), 'no outcomes yet');
    assert.equal(
      status({ live: { measure: 'mae', rows: 0 }, counts: { open: 25, early: 1300, unmet: 1200 } }),
      '1,200 unmatched (msg.series)',
    );
    assert.equal(
      status({ live: { measure: 'mae', rows: 0 }, counts: { open: 25, early: 1300, unmet: 0 } }),
      'awaiting outcomes: 25',
      'outcomes of the time before the first prediction',
    );
  });

  it('shows the alarms that have not been cleared before all else', () => {
    const alarm = (what: string, key: string) => ({ what, key, since: 0, value: 0.8 });
    const shownOf = (report: object): string => {
      const node = fakeNode();
      const red = redIn('en-US');
      const shown = { model: 'motor', decayed: false, counts: { open: 25 }, ...report } as WatchReport;
      new StatusLine(node, red).become(() => watchStatus(red, shown, false));
      const { fill, text } = node.statuses.at(-1)!;
      return `${fill}: ${text}`;
    };
    const changes = [alarm('alarm', 'pump1'), alarm('alarm', 'pump2'), alarm('cleared', 'pump1')];
    const none = { measure: 'log_loss', rows: 0 };
    assert.equal(shownOf({ live: none, changes }), 'yellow: active alarms: 1');
    const live = { measure: 'mae', rows: 412, loss: 1.71, promised: 1.6 };
    assert.equal(shownOf({ live, changes }), 'yellow: active alarms: 1 · MAE 1.7');
    const rare = { measure: 'log_loss', rows: 836, loss: 0.0186, promised: 0.0033 };
    assert.equal(shownOf({ live: rare, changes }), 'yellow: active alarms: 1');
    const over = [...changes, alarm('cleared', 'pump2')];
    assert.equal(shownOf({ live, changes: over }), 'green: MAE 1.7 (promised 1.6)');
  });

  it('is not green where a model looks worse than promised, sure or not', () => {
    const fill = (more: object): string | undefined => {
      const node = fakeNode();
      const live = { measure: 'log_loss', rows: 836, loss: 0.0186, promised: 0.0033, ...more };
      const report = { model: 'motor', decayed: false, counts: { open: 0 }, live } as WatchReport;
      new StatusLine(node, redIn('en-US')).become(() => watchStatus(redIn('en-US'), report, false));
      return node.statuses.at(-1)!.fill;
    };
    assert.equal(fill({}), 'yellow');
    assert.equal(fill({ loss: 0.0038 }), 'green');
    assert.equal(fill({ rows: 20 }), 'green', 'of few outcomes nothing is told');
  });
});
