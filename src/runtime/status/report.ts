import { reasonOf } from '../../util/reason';
import type { ServiceError } from '../../wire/service-error';
import { type FlowNode, type Message, type Red, text } from '../node-red';

/**
 * Reports an error as `node.error` does. For a Catch node, Node-RED copies the message, which fails if the message is
 * nested too deeply or has a property that throws: the error is then sent with the id of the message alone. Never
 * throws.
 */
export function reportError(
  node: FlowNode,
  red: Red,
  msg: Message,
  error: ServiceError,
  report: () => void = () => node.error(error, msg),
): void {
  try {
    report();
  } catch (reason) {
    node.warn(text(red, 'warning.notCopied', { reason: reasonOf(reason) }));
    attempt(node, () => node.error(error, { _msgid: idOf(msg) }));
  }
}

/** Calls `done` for a message that succeeded. Never throws: if the message cannot be copied, it warns. */
export function reportDone(node: FlowNode, red: Red, done: () => void): void {
  try {
    done();
  } catch (reason) {
    node.warn(text(red, 'warning.notCompleted', { reason: reasonOf(reason) }));
  }
}

function attempt(node: FlowNode, step: () => void): void {
  try {
    step();
  } catch (reason) {
    node.warn(reasonOf(reason));
  }
}

function idOf(msg: Message): string {
  try {
    return msg._msgid;
  } catch {
    return '';
  }
}
