import type { ColumnDrift, WatchChange, WatchOptions, WatchReport } from '../../watch';
import { number, type Red, text } from '../node-red';
import { timeText } from '../status/status-line';

/** What the editor gets to know of a model. */
export interface ShownWatch extends Omit<WatchReport, 'changes'> {
  changes: (WatchChange & { text: string })[];
  /** It looks worse than promised, but that is not sure. */
  unsure?: true;
  /** What the newest prediction rests on, where its predict node said why. */
  causes?: readonly unknown[];
}

/** A watch node, as the editor asks it. */
export interface ShowsWatch {
  /** Key of the service whose models are watched; undefined where none of them is known yet. */
  readonly service: string | undefined;
  shown(model: string): ShownWatch | undefined;
}

/** Of fewer outcomes nothing is told. */
const ENOUGH_OUTCOMES = 30;
/** A loss that is higher than promised by more than this looks worse. */
const LOOKS_WORSE = 1.25;

/** Whether a model does worse than promised in what is counted so far, without being sure of it. */
export function looksWorse({ live, decayed }: Pick<WatchReport, 'live' | 'decayed'>): boolean {
  const { rows, loss = 0, promised = Infinity } = live;
  return !decayed && rows >= ENOUGH_OUTCOMES && loss > LOOKS_WORSE * promised;
}

/** How many machines and steps ahead have an alarm that has not been cleared. */
export function activeAlarms(changes: readonly WatchChange[]): number {
  const raised = new Map<string, boolean>();
  for (const { what, key, ahead } of changes) {
    if (what === 'alarm' || what === 'cleared') {
      raised.set(JSON.stringify([key, ahead]), what === 'alarm');
    }
  }
  return [...raised.values()].filter(Boolean).length;
}

/** All watch nodes that are there: each enters with its start and leaves as it is closed. */
export const showing = new Set<ShowsWatch>();

/**
 * What the watch nodes know of a model; where several watch it, the one with the most outcomes.
 *
 * @param service key of the service that has the model; left out: of any
 */
export function shownWatch(model: string, service?: string): ShownWatch | undefined {
  const [most] = [...showing]
    .filter((node) => service === undefined || node.service === service)
    .flatMap((node) => node.shown(model) ?? [])
    .sort((a, b) => b.live.rows - a.live.rows);
  return most && { ...most, ...(looksWorse(most) && { unsure: true as const }) };
}

/** A number with two digits that say something, or more: 24, 1.7, 0.31, 0.0023. */
export function shortNumber(red: Red, value: number, significant = 2): string {
  const digits = value === 0 ? 0 : significant - 1 - Math.floor(Math.log10(Math.abs(value)));
  return number(red, value, Math.max(0, Math.min(6, digits)));
}

/**
 * What a change says to a person, in the runtime's language.
 *
 * @param target what the model predicts, where it is known: an alarm then says of what it is
 */
export function changeText(red: Red, change: WatchChange, alarm: WatchOptions['alarm'], target = ''): string {
  const { what, key, ahead, model, why = [], causes = [] } = change;
  const said = text(red, `change.${chooseTextKey(change, alarm, target)}`, {
    model,
    label: String(alarm?.label ?? ''),
    what: alarm?.on === 'probability' ? nameEvent(target, alarm.label) : target,
    ...writeValues(red, change, alarm),
  });
  const reasons = [
    what === 'decay' && why.length > 0 ? text(red, 'change.why', { columns: writeColumns(red, why) }) : '',
    causes.length > 0 ? text(red, 'change.causes', { causes: causes.map((one) => one.text).join('; ') }) : '',
  ].filter((reason) => reason !== '');
  const all = [said, ...reasons].join(' ');
  const of = [
    key,
    ahead === undefined ? undefined : text(red, 'change.ahead', { time: timeText(red, ahead) }),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
  return of === '' ? all : `${of}: ${all}`;
}

/** The target of a series node names the event that its "yes" stands for; of any other the label is named. */
function nameEvent(target: string, label: unknown): string {
  return String(label) === 'yes' && / (?:within|ahead)\b/.test(target)
    ? target
    : `${target} = ${String(label)}`;
}

/** Nearly all is not shown as all. */
function writePercent(red: Red, part: number, significant = 3): string {
  const percent = Number((100 * part).toPrecision(significant));
  return `${number(red, part < 1 ? Math.min(percent, 99.9) : percent)} %`;
}

function chooseTextKey({ what, value }: WatchChange, alarm: WatchOptions['alarm'], target: string): string {
  switch (what) {
    case 'alarm':
    case 'cleared': {
      const { on = 'value' } = alarm ?? {};
      const named = on === 'probability' ? 'event' : `${on}Of`;
      return `${what}.${target === '' ? on : named}`;
    }
    case 'model':
      return `${what}.${typeof value === 'number' ? 'version' : 'id'}`;
    default:
      return what;
  }
}

function writeValues(
  red: Red,
  { what, value, limit, measure, why = [] }: WatchChange,
  alarm: WatchOptions['alarm'],
): Record<string, string> {
  switch (what) {
    case 'decay':
    case 'recovered':
      return {
        measure: text(red, `status.watch.measure.${measure ?? 'mae'}`),
        value: shortNumber(red, Number(value)),
        limit: limit === undefined ? '?' : shortNumber(red, limit),
      };
    case 'alarm':
    case 'cleared':
      return alarm?.on === 'probability'
        ? { value: writePercent(red, Number(value)), limit: writePercent(red, limit ?? 0) }
        : { value: shortNumber(red, Number(value), 3), limit: number(red, limit ?? 0) };
    case 'drift':
      return { columns: writeColumns(red, why) };
    case 'no_truth':
      return { time: timeText(red, Number(value)) };
    case 'model':
      return { value: String(value) };
  }
}

function writeColumns(red: Red, drift: readonly ColumnDrift[]): string {
  return drift
    .map(({ column, moved }) => {
      if (moved === undefined) {
        return `"${column}"`;
      }
      const { to, value = '', now, usual } = moved;
      return text(red, `change.moved.${to}`, {
        column,
        value: typeof value === 'number' ? shortNumber(red, value, 4) : String(value),
        now: writePercent(red, now, 2),
        usual: writePercent(red, usual, 2),
      });
    })
    .join('; ');
}
