import type { WatchChange, WatchOptions } from '../../../watch';
import type { Message, Red } from '../../node-red';
import { changeText } from './change-text';

/**
 * A message of its own for each change: `msg.change`, and its text as the payload, for a mail or a line on a dashboard.
 * That of a decay asks a series node for a train set.
 */
export function changeMessages(
  red: Red,
  changes: readonly WatchChange[],
  alarm: WatchOptions['alarm'],
  { _msgid, topic }: Message,
): Message[] {
  return changes.map((change) => {
    const text = changeText(red, change, alarm);
    const msg: Message = { _msgid, ...(topic === undefined ? {} : { topic }), payload: text };
    msg.change = { ...change, text };
    msg.model_name = change.model;
    if (change.what === 'decay') {
      msg.train = { reason: 'decay', model: change.model };
    }
    return msg;
  });
}
