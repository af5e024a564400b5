import assert from 'node:assert/strict';
import fs from 'node:fs';
import vm from 'node:vm';

import {
  adviceText,
  type AdviceWords,
  asGood,
  byCost,
  type Candidate,
  ENGLISH,
  learnCourses,
  makeKnobs,
  partTold,
  readGoal,
  restsOn,
  surer,
} from '../../doors/advise';
import { NODE_SETTINGS, parseSetting, problemWith } from '../../doors/settings';
import { seededRandom } from '../../doors/util';

const numbers = (low: number, high: number) =>
  ({
    kind: 'number',
    q05: low,
    q10: low,
    median: low,
    q90: high,
    q95: high,
    min: low,
    max: high,
    missing: 0,
  }) as const;
const words = (...categories: string[]) =>
  ({ kind: 'category', categories, complete: true, missing: 0 }) as const;

const COLUMNS = [
  { name: 'speed', type: 'number' },
  { name: 'rolls', type: 'integer' },
  { name: 'recipe', type: 'text' },
  { name: 'begun', type: 'date' },
] as const;
const USUAL = [numbers(10, 20), numbers(1, 9), words('A', 'B'), numbers(0, 1)];
const NOW: Record<string, number | string | null> = { speed: 12, rolls: 3, recipe: 'A', begun: 5 };

const knobsFor = (vary: Parameters<typeof makeKnobs>[0], now = NOW) =>
  makeKnobs(vary, COLUMNS, USUAL, (column) => now[column] ?? null);

describe('a question for advice', () => {
  it('takes the usual range of the train set, and bounds and steps that are given', () => {
    const [usual, bounded, recipe] = knobsFor([
      { column: 'speed' },
      { column: 'rolls', from: 2, to: 8, step: 3, cost: 4 },
      { column: 'recipe', cost: 7 },
    ]);
    assert.deepEqual([usual!.at(0), usual!.at(0.99999)], [10, 20]);
    assert.equal(
      usual!.at(0.3337),
      Number((usual!.at(0.3337) as number).toFixed(2)),
      'no more digits than a dial has',
    );
    assert.deepEqual(
      [0, 0.4, 0.99].map((place) => bounded!.at(place)),
      [2, 5, 8],
    );
    assert.equal(bounded!.stay, 3, 'the present value may stay, between two steps');
    assert.equal(bounded!.costOf(5), 8);
    assert.deepEqual([recipe!.costOf('A'), recipe!.costOf('B')], [0, 7]);
    assert.equal(recipe!.back('B', 1), 'A');
    const [outside] = knobsFor([{ column: 'speed', from: 15, to: 18 }]);
    assert.equal(outside!.stay, 15, 'a present value outside of the bounds may not stay');
    const [wide] = knobsFor([{ column: 'speed' }], { ...NOW, speed: 25 });
    assert.equal(wide!.stay, 25, 'without bounds it may');
  });

  it('changes nothing by less than a thousandth of the range, but where a dial has steps', () => {
    const now = { ...NOW, speed: 12.3456 };
    const [free, dial] = [undefined, 0.01].map((step) => knobsFor([{ column: 'speed', step }], now)[0]!);
    const set = (knob: typeof free, value: number) => knob!.valueAt(knob!.placeOf(value)!, false);
    assert.deepEqual([set(free, 12.35), set(free, 12.36)], [12.3456, 12.36]);
    assert.equal(set(dial, 12.35), 12.35);
  });

  const refused: [string, Parameters<typeof makeKnobs>[0], RegExp, string, typeof NOW?][] = [
    ['no changeable column', [], /at least one/, 'config.invalid'],
    ['a column twice', [{ column: 'speed' }, { column: 'speed' }], /twice/, 'config.invalid'],
    ['a column that the model has not', [{ column: 'x' }], /"speed", "rolls"/, 'columns.missing'],
    [
      'a missing cell',
      [{ column: 'speed' }],
      /no value in "speed"/,
      'validation.failed',
      { ...NOW, speed: null },
    ],
    [
      'bounds the wrong way round',
      [{ column: 'speed', from: 9, to: 3 }],
      /wrong way round, 9 to 3: name the lower/,
      'config.invalid',
    ],
    [
      'a lower bound above the usual range',
      [{ column: 'speed', from: 30 }],
      /upper bound is empty, and usually it is at most 20/,
      'config.invalid',
    ],
    [
      'an upper bound below it',
      [{ column: 'speed', to: 5 }],
      /lower bound is empty, and usually it is at least 10/,
      'config.invalid',
    ],
    [
      'steps that leave one candidate',
      [{ column: 'rolls', from: 3, to: 5, step: 4 }],
      /no other value than 3:/,
      'config.invalid',
    ],
    [
      'steps that leave none',
      [{ column: 'speed', from: 12, to: 12 }],
      /no other value than 12:/,
      'config.invalid',
    ],
    ['half a whole number', [{ column: 'rolls', step: 0.5 }], /whole numbers/, 'config.invalid'],
    ['bounds of words', [{ column: 'recipe', from: 1 }], /words/, 'config.invalid'],
    ['a date', [{ column: 'begun' }], /dates/, 'config.invalid'],
  ];
  for (const [what, vary, message, code, now] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => knobsFor(vary, now), { code, message });
    });
  }

  const card = (task: 'regression' | 'classification', rows = 1_000) => ({
    ...{ name: 'm', task, rows, columns: [...COLUMNS] },
    classes: task === 'classification' ? ['good', 'scrap'] : undefined,
  });

  it('refuses in the dialog what it refuses of a message', () => {
    const RED = { _: (key: string) => key, tabularPrediction: {} as { validators: Validators } };
    interface Validators {
      vary: (numbers: unknown) => (this: object, value: unknown) => true | string;
    }
    vm.runInNewContext(fs.readFileSync('resources/dialogs.js', 'utf8'), { RED, $: () => [] });
    const column = 'speed';
    const setting = NODE_SETTINGS.advise.vary;
    for (const [vary, isGood] of [
      [[{ column }], true],
      [[{ column, from: 11, to: 19, step: 2, cost: 0, price: -3 }], true],
      [[{ column, from: '11', to: '' }], true],
      [[{ from: 1 }], false],
      [[{ column: '' }], false],
      [[{ column }, { column }], false],
      [[{ column, from: 'low' }], false],
      [[{ column, price: '1,5' }], false],
      [[{ column, from: 19, to: 11 }], false],
      [[{ column, step: 0 }], false],
      [[{ column, step: -1 }], false],
      [[{ column, cost: -1 }], false],
    ] as const) {
      const inDialog = RED.tabularPrediction.validators.vary(setting.numbers);
      const refuseAsked = (): void => {
        const read = parseSetting(setting, vary);
        assert.equal(problemWith(setting, read, 'form'), undefined);
        knobsFor(read as never);
      };
      const said = JSON.stringify(vary);
      assert.equal(inDialog.call({}, vary) === true, isGood, said);
      (isGood ? assert.doesNotThrow : assert.throws)(refuseAsked, said);
    }
  });

  it('asks for a quantile, or a probability, with something to spare for the luck of the best', () => {
    const asked = surer(0.9, card('regression'));
    assert.ok(asked > 0.9 && asked < 0.93);
    assert.ok(surer(0.9, card('regression', 100)) > asked, 'fewer rows err more');
    const goal = readGoal({ vary: [], goal: 'at least', value: '85', sure: 0.9 }, card('regression'));
    const low = Number((1 - asked).toFixed(4));
    assert.deepEqual(goal.asks.quantiles, [low, 0.1, 0.5, 0.9]);
    const read = goal.read({ p: { [low]: 84, 0.1: 86, 0.5: 90, 0.9: 93 } }, 'p');
    assert.deepEqual(read, { expected: { value: 90, low: 86, high: 93, holds: true }, reach: -1 });
    assert.ok(Number.isNaN(goal.read({ p: null }, 'p').reach));
    const most = readGoal({ vary: [], goal: 'lowest' }, card('regression'));
    assert.equal(most.hasLimit, false);
    const good = readGoal({ vary: [], goal: 'at least', value: 'good', sure: 0.9 }, card('classification'));
    const { expected, reach } = good.read({ p: 'good', p_probabilities: { good: 0.95, scrap: 0.05 } }, 'p');
    assert.deepEqual(expected, { value: 'good', probability: 0.95, holds: true });
    assert.ok(Math.abs(reach - (0.95 - asked)) < 1e-9);
    const scrap = readGoal({ vary: [], goal: 'at most', value: 'scrap', sure: 0.9 }, card('classification'));
    assert.equal(scrap.read({ p_probabilities: { scrap: 0.05 } }, 'p').expected.holds, true);
  });

  it('refuses a goal of another task, and a label that is unknown', () => {
    const ask = (value: string | undefined, task: 'regression' | 'classification') => () =>
      readGoal({ vary: [], goal: 'at least', value }, card(task));
    assert.throws(ask('good', 'regression'), {
      code: 'config.invalid',
      message: /predicts numbers.*"good" is none/,
    });
    assert.throws(ask(undefined, 'regression'), { code: 'config.invalid', message: /there is none/ });
    assert.throws(ask('fine', 'classification'), { code: 'config.invalid', message: /"good", "scrap"/ });
    assert.throws(ask('85', 'classification'), { code: 'config.invalid', message: /"85" is none of them/ });
  });

  it('takes the cheapest, then the smallest change; without a limit what is about as good counts as equal', () => {
    const candidate = (cost: number, size: number, reach = 1) => ({ cost, size, reach }) as Candidate;
    const sorted = [candidate(2, 1), candidate(1, 3), candidate(1 + 1e-13, 2)].sort(byCost);
    assert.deepEqual(
      sorted.map(({ size }) => size),
      [2, 3, 1],
    );
    const good = [candidate(9, 1, 10), candidate(3, 1, 9.95), candidate(1, 1, 8)];
    assert.equal(asGood(good, 0)[0]!.cost, 3);
    assert.deepEqual(asGood(good, 10), [], 'nothing is better than what there is');
  });

  it('lets a column follow as it did in the train set, and names those that went along and stand still', () => {
    const random = seededRandom(5);
    const rows = Array.from({ length: 300 }, () => {
      const speed = 10 + 10 * random();
      const recipe = random() < 0.5 ? 'A' : 'B';
      return [
        speed,
        1 + Math.floor(9 * random()),
        recipe,
        0.5 * speed ** 2 + random(),
        speed > 15 ? 'x' : 'y',
      ];
    });
    const columns = [
      ...COLUMNS.slice(0, 3),
      { name: 'energy', type: 'number' },
      { name: 'mode', type: 'text' },
    ] as const;
    const reference = { columns: [...columns], rows, usual: [], drift: [] };
    const now = (column: string) => ({ energy: 72, ...NOW })[column] ?? null;
    const knobs = makeKnobs([{ column: 'speed' }, { column: 'recipe' }], COLUMNS, USUAL, now);
    const [energy] = learnCourses(['energy'], knobs, reference, now);
    assert.ok(Math.abs(energy!.at([16, 'A']) - 128) < 3, `${energy!.at([16, 'A'])} in place of 128`);
    assert.equal(energy!.at([12, 'A']), 72);
    assert.throws(() => learnCourses(['speed'], knobs, reference, now), { code: 'config.invalid' });
    assert.throws(() => learnCourses(['recipe2'], knobs, reference, now), { code: 'config.invalid' });
    const rests = restsOn(knobs, [16, 'A'], reference, []);
    assert.deepEqual(
      rests.together.map(({ column }) => column),
      ['energy', 'mode'],
    );
    assert.deepEqual(rests.together[0]!.with, ['speed']);
    assert.ok(rests.rows > 30 && rests.rows < 90 && rests.of === 300);
    assert.deepEqual(restsOn(knobs, [16, 'A'], reference, ['energy', 'mode']).together, []);
    assert.ok(
      partTold(
        rows.map((row) => row[2]!),
        rows.map((row) => row[1]!),
      ) < 0.05,
      'chance tells nothing',
    );
  });

  it('says what would reach the goal where the train set knows nothing, and what comes nearest', () => {
    const setting = (to: number, by: number, value: number) => ({
      ...{ set: { speed: to }, changes: [{ column: 'speed', from: 12, to, by }] },
      ...{ then: { value, low: value - 1, high: value + 1, holds: false }, cost: 0, unlike: 0.5 },
    });
    const now = { value: 40, low: 39, high: 41, holds: false, unlike: 0.1 };
    const advice = {
      id: '1',
      set: null,
      now,
      others: [],
      nearest: setting(16, 4, 52),
      outside: setting(25, 13, 61),
    };
    const about = {
      ...{ target: 'yield', label: undefined, hasLimit: true, likest: undefined, missing: [] },
      unlikeNow: { rank: 0.1, columns: [], new: [] },
    };
    assert.equal(
      adviceText(advice, about, ENGLISH),
      'Only settings unlike anything in the train set reach the goal, such as speed to 25 (+13). ' +
        'The nearest to it on known ground is speed to 16 (+4): yield 52 (51 to 53), now 40 (39 to 41).',
    );
  });

  it('joins what it lists as the language does', () => {
    const now = { value: 40, low: 39, high: 41, holds: false, unlike: 0.1 };
    const changes = ['speed', 'heat', 'fan'].map((column) => ({ column, from: 12, to: 16, by: 4 }));
    const advice = { id: '1', set: { speed: 16, heat: 16, fan: 16 }, changes, now, then: now, others: [] };
    const about = { target: 'yield', label: undefined, hasLimit: true, likest: undefined, missing: [] };
    const unlikeNow = { rank: 0.1, columns: [], new: [] };
    const words: AdviceWords = {
      ...ENGLISH,
      word: (key, values) => (key === 'list' ? `${values.first}、${values.rest}` : ENGLISH.word(key, values)),
    };
    assert.match(
      adviceText(advice, { ...about, unlikeNow }, words),
      /^Set speed to 16 \(\+4\)、heat to 16 \(\+4\)、fan to 16 \(\+4\): yield/,
    );
  });

  it('says that it is a guess where the row holds the goal but is unlike the train set', () => {
    const now = { value: 40, low: 39, high: 41, holds: true, unlike: 1 };
    const about = { target: 'yield', label: undefined, hasLimit: true, likest: undefined, missing: ['fan'] };
    const unlikeNow = { rank: 1, columns: ['speed', 'fan'], new: [] };
    assert.equal(
      adviceText({ id: '1', set: {}, now, others: [] }, { ...about, unlikeNow }, ENGLISH),
      'Nothing to change: yield 40 (39 to 41). ' +
        'But the row is unlike anything in the train set (speed, fan (no value)), so that is a guess.',
    );
  });
});
