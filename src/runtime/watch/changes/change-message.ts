import type { WatchChange } from '../../../watch';
import type { Message } from '../../node-red';

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
