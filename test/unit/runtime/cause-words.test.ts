import assert from 'node:assert/strict';

import { causeTexts } from '../../doors/runtime';
import { redIn } from './fake';

describe('the sentence of a cause in the language of the runtime', () => {
  const cause = { column: 'vibration', value: 7.93, usual: [2.1, 3.4] as [number, number], effect: 0.314 };
  const expected = {
    'en-US': 'vibration 7.9 (usually 2.1 to 3.4) raised "a <b> $t(x) __value__" by 31 points',
    de: 'vibration 7,9 (sonst 2,1 bis 3,4) erhöhte „a <b> $t(x) __value__“ um 31 Punkte',
    ja: 'vibration 7.9 (通常 2.1～3.4) により「a <b> $t(x) __value__」が 31 ポイント上昇',
  };
  for (const [language, sentence] of Object.entries(expected)) {
    it(language, () => {
      const write = causeTexts(redIn(language));
      assert.equal(write(cause, 'a <b> $t(x) __value__'), sentence);
      const others = [{ effect: -0.03 }, { value: null }, { usual: [3, 3] }].map((more) =>
        write({ ...cause, ...more } as typeof cause, 1),
      );
      const numbers = [2.5, -1234].map((effect) => write({ ...cause, effect }, undefined));
      for (const text of [...others, ...numbers]) {
        assert.doesNotMatch(text, /__value__$|undefined|why\./);
      }
      assert.equal(new Set([...others, ...numbers]).size, 5);
    });
  }
});
