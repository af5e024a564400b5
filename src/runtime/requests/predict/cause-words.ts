import type { CauseText } from '../../../scoring/types';
import { scoring } from '../../lazy';
import { number, type Red, SHARED_CATALOGUE } from '../../node-red';

const VALUES = ['subject', 'column', 'value', 'low', 'high', 'label', 'effect'];
/** Marks a place in a text of the catalogue: values are data, and must not be taken for instructions to i18next. */
const MARK = '\u0001';
const MARKED = new RegExp(`${MARK}(\\w+)${MARK}`, 'g');

/** The sentences of causes, in the runtime's language. */
export function causeTextOf(red: Red): CauseText {
  const texts = new Map<string, string>();
  const marks = Object.fromEntries(VALUES.map((name) => [name, `${MARK}${name}${MARK}`]));
  const textOf = (key: string): string => {
    const text = texts.get(key) ?? red._(`${SHARED_CATALOGUE}:why.${key}`, marks);
    texts.set(key, text);
    return text;
  };
  if (!textOf('subject').includes(MARK)) {
    return scoring().causeText;
  }
  return scoring().causeTextIn({
    word: (key, values) => textOf(key).replace(MARKED, (_, name: string) => values[name] ?? ''),
    number: (value, { decimals, unit }) => {
      const [rounded, written] = [Number(value.toFixed(decimals)), value.toFixed(decimals)];
      const needed = written.includes('.') ? written.replace(/0+$/, '').split('.')[1]!.length : 0;
      return number(red, rounded, needed, unit);
    },
  });
}
