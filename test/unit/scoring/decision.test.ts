import { strict as assert } from 'node:assert';

import { decide, labelNoise, pairedDifference, pinballLosses } from '../../doors/scoring';
import { seededRandom } from '../../doors/util';

const ROWS = 200;
const list = (make: (row: number) => number, rows = ROWS): number[] =>
  Array.from({ length: rows }, (_, row) => make(row));

/** Chances of the true class of a model that is right this often, sure of itself, with some noise of its own. */
function chances(seed: number, { p = 0.8, flipped = 0, rows = ROWS } = {}): number[] {
  const random = seededRandom(seed);
  return list(() => {
    const own = p + 0.1 * (random() - 0.5);
    return random() < flipped ? 1 - own : own;
  }, rows);
}

const classes = (champion: number[], challenger: number[], decayed = false, promised?: number) =>
  decide({ task: 'classification', classes: 2, champion, challenger }, { decayed, promised });

describe('pairedDifference', () => {
  it('is the mean difference, with the standard error of the mean of ten blocks', () => {
    const first = list((row) => 2 + (Math.floor(row / 20) % 2 === 0 ? 1 : -1));
    const { difference, standardError } = pairedDifference(
      first,
      list(() => 1),
    );
    assert.ok(Math.abs(difference - 1) < 1e-12, `${difference}`);
    // Ten block means of ±1 about 1: variance 10/9, and neighbours that differ widen nothing.
    assert.ok(Math.abs(standardError - Math.sqrt(10 / 9 / 10)) < 1e-12, `${standardError}`);
  });

  it('is wider where neighbouring blocks are alike than where the same blocks are mixed', () => {
    const zero = list(() => 0);
    const half = pairedDifference(
      list((row) => (row < 100 ? 1 : -1)),
      zero,
    );
    const mixed = pairedDifference(
      list((row) => (Math.floor(row / 20) % 2 === 0 ? 1 : -1)),
      zero,
    );
    assert.ok(half.standardError > 1.3 * mixed.standardError);
  });
});

describe('decide', () => {
  it('a challenger that is better by more than a standard error takes over; the scores say how', () => {
    const { why, scores } = classes(chances(1, { p: 0.7 }), chances(2, { p: 0.85 }));
    assert.equal(why, 'better');
    assert.equal(scores.loss, 'log_loss');
    assert.equal(scores.rows, ROWS);
    assert.ok(Math.abs(scores.champion - scores.challenger - scores.difference) < 1e-12);
    assert.ok(scores.difference > scores.standard_error && scores.standard_error > 0);
  });

  it('one that is as good, or worse, does not', () => {
    const own = chances(1);
    assert.equal(classes(own, own).why, 'not_better');
    assert.equal(classes(chances(1, { p: 0.85 }), chances(2, { p: 0.7 })).why, 'not_better');
  });

  it('one that is better by less than a standard error takes over only from a champion that has decayed', () => {
    const champion = list((row) => (row < 100 ? 0.5 : 0.9));
    const challenger = list((row) => (row < 100 ? 0.9 : 0.52));
    assert.equal(classes(champion, challenger).why, 'not_better');
    assert.equal(classes(champion, challenger, true).why, 'decayed');
    assert.equal(classes(challenger, champion, true).why, 'not_better');
    // On these rows it is as good as ever: what was wrong is over.
    assert.equal(classes(champion, challenger, true, 0.4).why, 'not_better');
    // A little worse than promised may be chance.
    assert.equal(classes(champion, challenger, true, 0.3).why, 'not_better');
    assert.equal(classes(champion, challenger, true, 0.05).why, 'decayed');
  });

  it('one that only expects wrong labels does not take over, decayed or not', () => {
    const champion = chances(1, { p: 0.93, flipped: 0.3 });
    // It says the same, less surely.
    const softer = champion.map((p) => 0.5 + 0.6 * (p - 0.5));
    assert.equal(classes(champion, softer).why, 'label_noise');
    assert.equal(classes(champion, softer, true).why, 'label_noise');
    // One that tells which of them will be wrong knows something.
    assert.equal(
      classes(
        champion,
        champion.map((p) => 0.5 + 0.6 * (Math.abs(p - 0.5) * 1.2 - 0.2) + 0.1),
      ).why,
      'better',
    );
  });

  it('where labels are in doubt it takes one and a half standard errors beyond them, where they are not one', () => {
    /** Better in one block and worse in the next, by so much: a standard error is a third of it. */
    const wavering = (own: number[], by: number) =>
      own.map((p, row) => p * Math.exp(0.01 * (1 + (Math.floor(row / 20) % 2 === 0 ? by : -by))));
    const nearly = (own: number[]) => wavering(own, 2.4);
    const surely = (own: number[]) => wavering(own, 1.7);
    const clean = chances(1, { p: 0.93 });
    const flipped = chances(1, { p: 0.93, flipped: 0.3 });
    for (const isDecayed of [false, true]) {
      assert.equal(classes(clean, nearly(clean), isDecayed).why, isDecayed ? 'decayed' : 'better');
      assert.equal(classes(flipped, nearly(flipped), isDecayed).why, 'label_noise');
      assert.equal(classes(flipped, surely(flipped), isDecayed).why, isDecayed ? 'decayed' : 'better');
    }
    // The champion of few rows is too sure of itself: nine labels in ten look drawn.
    const sure = chances(1, { p: 0.93, flipped: 0.41 });
    assert.ok(labelNoise(sure, 2) > 0.85 && labelNoise(sure, 2) < 0.92, `${labelNoise(sure, 2)}`);
    assert.equal(classes(sure, nearly(sure)).why, 'label_noise');
  });

  it('numbers are compared by their pinball loss', () => {
    const actual = list((row) => Math.sin(row));
    const levels = Array.from({ length: 9 }, (_, level) => 0.1 * (level - 4));
    const around = (offset: number) => levels.map((step) => actual.map((value) => value + offset + step));
    const { why, scores } = decide({
      task: 'regression',
      actual,
      champion: around(1),
      challenger: around(0.1),
    });
    assert.deepEqual([why, scores.loss], ['better', 'pinball']);
  });

  it('numbers of which both miss many grossly take surer proof on the others', () => {
    const random = seededRandom(4);
    const errors = list(() => random() + random() + random() - 1.5);
    const levels = Array.from({ length: 9 }, (_, level) => 0.2 * (level - 4));
    /** The champion says too much by `bias`, and every so many outcomes are far too low. */
    const why = (bias: number, every: number): string => {
      const actual = errors.map((error, row) => error - (row % every === 5 ? 30 : 0));
      const said = (offset: number) => levels.map((step) => errors.map(() => step + offset));
      return decide({ task: 'regression', actual, champion: said(bias), challenger: said(0) }).why;
    };
    assert.equal(why(0.3, 10), 'label_noise');
    assert.equal(why(0.6, 10), 'better', 'surely better on the others');
    assert.equal(why(0.3, 40), 'better', 'a few such rows cast no doubt');
  });

  it('large misses where the champion expects them cast no doubt on the numbers', () => {
    const random = seededRandom(4);
    const errors = list(() => random() + random() + random() - 1.5);
    const levels = Array.from({ length: 9 }, (_, level) => 0.2 * (level - 4));
    /** In every tenth row the noise is 30 times as large, and the band `told` times as wide. */
    const why = (told: number): string => {
      const isFlood = (row: number) => row % 10 === 5;
      const actual = errors.map((error, row) => (isFlood(row) ? 30 * error : error));
      const said = (offset: number) =>
        levels.map((step) => errors.map((_, row) => (isFlood(row) ? told : 1) * step + offset));
      return decide({ task: 'regression', actual, champion: said(0.3), challenger: said(0) }).why;
    };
    assert.equal(why(30), 'better');
    assert.equal(why(1), 'label_noise');
  });

  it('one that wins on unusual rows alone is put off; another one that wins on what came later is not', () => {
    const lost = list((row) => (row < 40 ? 0.7 : 0.6));
    const won = list((row) => (row < 40 ? 0.6 : 0.95));
    const from = (first: number): Uint8Array => Uint8Array.from(lost, (_, row) => (row >= first ? 1 : 0));
    const why = (rows?: { usual: Uint8Array; later?: Uint8Array }, decayed = false): string =>
      decide({ task: 'classification', classes: 2, champion: lost, challenger: won }, { decayed }, rows).why;
    const usual = from(40).map((one) => 1 - one);
    assert.equal(why(), 'better');
    assert.equal(why({ usual: from(0) }), 'better');
    assert.equal(why({ usual }), 'unusual_rows');
    assert.equal(why({ usual }, true), 'unusual_rows');
    assert.equal(why({ usual: from(40) }), 'better', 'it wins on the usual rows');
    assert.equal(why({ usual: new Uint8Array(ROWS) }), 'unusual_rows', 'there are no usual rows');
    assert.equal(why({ usual, later: from(170) }), 'better');
    assert.equal(why({ usual, later: from(171) }), 'unusual_rows', 'too few came later');
    assert.equal(why({ usual, later: usual }), 'unusual_rows', 'it loses on what came later');
  });

  it('one row that a model was sure of, and wrong, does not decide', () => {
    const champion = list((row) => (row === 100 ? 1e-12 : 0.9), 1000);
    assert.equal(
      classes(
        champion,
        list(() => 0.89, 1000),
      ).why,
      'not_better',
    );
  });
});

describe('losses', () => {
  it('labelNoise finds twice the part of flipped labels, and none in a calibrated model', () => {
    const rows = 4000;
    const flipped = labelNoise(chances(3, { p: 0.95, flipped: 0.3, rows }), 2);
    assert.ok(Math.abs(flipped - 0.6) < 0.06, `${flipped}`);
    const random = seededRandom(4);
    const calibrated = list(() => (random() < 0.8 ? 0.8 : 0.2), rows);
    assert.ok(labelNoise(calibrated, 2) < 0.05);
    assert.equal(
      labelNoise(
        list(() => 1),
        3,
      ),
      0,
    );
  });

  it('pinballLosses is the mean over the nine levels', () => {
    const quantiles = Array.from({ length: 9 }, () => [0]);
    assert.ok(Math.abs(pinballLosses(quantiles, [2])[0]! - 2 * 0.5) < 1e-12);
    assert.ok(Math.abs(pinballLosses(quantiles, [-2])[0]! - 2 * 0.5) < 1e-12);
  });
});
