import type { Unlike } from '../predict/unlike';
import { KNOWN_GROUND } from './search';
import type { Advice, Advised, Candidate, Expected } from './types';

/** Sentences in a language, by their keys. */
export interface AdviceWords {
  word: (key: AdviceKey, values: Record<string, string>) => string;
  number: (value: number) => string;
}

type AdviceKey = keyof typeof TEXTS;

const TEXTS = {
  set: 'Set {changes}: {what} {then}, now {now}.',
  nothing: 'Nothing to change: {what} {now}.',
  nothingBetter: 'Nothing within the bounds is better: {what} {now}.',
  guess: 'But the row is unlike anything in the train set ({columns}), so that is a guess.',
  outside:
    'Only settings unlike anything in the train set reach the goal, such as {outside}. The nearest to it on known ground is {changes}: {what} {then}, now {now}.',
  nowhere:
    'Nothing within the bounds reaches the goal. The nearest to it is {changes}: {what} {then}, now {now}.',
  unknown:
    'No setting within the bounds is like the train set, so there is no advice. Most unlike: {columns}.',
  noValue: '{column} (no value)',
  stay: 'the present setting',
  number: '{column} to {to} ({by})',
  word: '{column} to {to}',
  numbers: '{value} ({low} to {high})',
  classes: '{percent} %',
  costs: 'It costs {cost}.',
  saves: 'It saves {cost}.',
  list: '{first}, {rest}',
  together:
    '{column} stays as it is, but went along with {with} in the train set: it may change too, or be the reason.',
};

export const ENGLISH: AdviceWords = {
  word: (key, values) => TEXTS[key].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
  number: (value) => String(Number(value.toPrecision(4))),
};

/** What an advice is about, beside itself. */
export interface AdviceSubject {
  target: string;
  /** The label that the goal is about, of classes. */
  label: string | undefined;
  hasLimit: boolean;
  /** The candidate most like the train set. */
  likest: Candidate | undefined;
  /** How unlike the train set the row is now. */
  unlikeNow: Unlike;
  /** The columns of the row that have no value. */
  missing: readonly string[];
}

/** An advice as a few sentences. */
export function adviceText(
  advice: Omit<Advice, 'text'>,
  about: AdviceSubject,
  { word, number }: AdviceWords,
): string {
  const said = ({ value, low, high, probability }: Expected): string => {
    const shown = (one: unknown): string => (typeof one === 'number' ? number(one) : String(one));
    return probability === undefined
      ? word('numbers', { value: shown(value), low: shown(low), high: shown(high) })
      : word('classes', { percent: number(Math.round(1000 * probability) / 10) });
  };
  const told = { what: about.label ?? about.target, now: said(advice.now) };
  const joined = (all: readonly string[]): string =>
    all.length === 0 ? '' : all.reduceRight((rest, first) => word('list', { first, rest }));
  const changes = ({ changes: all }: Pick<Advised, 'changes'>): string =>
    joined(
      all.map(({ column, to, by }) =>
        by === undefined
          ? word('word', { column, to: String(to) })
          : word('number', { column, to: number(to as number), by: `${by > 0 ? '+' : ''}${number(by)}` }),
      ),
    ) || word('stay', {});
  const listed = (unlike: Unlike | undefined): string =>
    joined(
      (unlike?.columns ?? []).map((column) =>
        about.missing.includes(column) ? word('noValue', { column }) : column,
      ),
    );
  const { set, nearest, cost = 0, rests_on: rests } = advice;
  if (set === null) {
    if (nearest === undefined) {
      return word('unknown', { columns: listed(about.likest?.unlike) });
    }
    const { outside } = advice;
    const values = { changes: changes(nearest), then: said(nearest.then), ...told };
    return outside === undefined
      ? word('nowhere', values)
      : word('outside', { ...values, outside: changes(outside) });
  }
  if (Object.keys(set).length === 0) {
    const nothing = word(about.hasLimit ? 'nothing' : 'nothingBetter', told);
    return about.unlikeNow.rank > KNOWN_GROUND
      ? `${nothing} ${word('guess', { columns: listed(about.unlikeNow) })}`
      : nothing;
  }
  return [
    word('set', { changes: changes(advice as Advised), then: said(advice.then!), ...told }),
    ...(cost === 0 ? [] : [word(cost > 0 ? 'costs' : 'saves', { cost: number(Math.abs(cost)) })]),
    ...(rests?.together ?? []).map((one) => word('together', { column: one.column, with: joined(one.with) })),
  ].join(' ');
}
