import { isObject } from '../../util/values';
import type { AlarmCause, WatchChange } from '../../watch';
import type { Message } from '../node-red';

/**
 * A message of its own for each change: `msg.change`, and its text as the payload, for a mail or a line on a dashboard.
 * That of a decay asks a series node for a train set.
 */
export function changeMessages(
  changes: readonly WatchChange[],
  textOf: (change: WatchChange) => string,
  { _msgid, topic }: Message,
): Message[] {
  return changes.map((change) => {
    const text = textOf(change);
    const msg: Message = { _msgid, ...(topic === undefined ? {} : { topic }), payload: text };
    msg.change = { ...change, text };
    msg.model_name = change.model;
    if (change.what === 'decay') {
      msg.train = { reason: 'decay', model: change.model };
    }
    return msg;
  });
}

/** As many as predict gives per row, and the longest sentence: a flow may have put anything there. */
const MOST = 3;
const CHARACTERS = 500;

/**
 * Lets alarms keep why they were raised: sent on output 2, and shown in the sidebar when the prediction is long gone.
 * @param causes what stands beside the prediction under `<property>_why`
 */
export function keepCauses(changes: readonly WatchChange[], causes: unknown): void {
  const alarms = changes.filter(({ what }) => what === 'alarm');
  if (alarms.length === 0 || !Array.isArray(causes)) {
    return;
  }
  const known = causes.slice(0, MOST).flatMap((cause) => causeOf(cause) ?? []);
  if (known.length > 0) {
    for (const alarm of alarms) {
      alarm.causes = known;
    }
  }
}

function causeOf(cause: unknown): AlarmCause | undefined {
  if (!isObject(cause)) {
    return undefined;
  }
  const { column, effect, text } = cause;
  return typeof column === 'string' && typeof effect === 'number' && typeof text === 'string' && text !== ''
    ? { column: column.slice(0, CHARACTERS), effect, text: text.slice(0, CHARACTERS) }
    : undefined;
}
