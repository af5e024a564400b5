import { reasonOf } from '../../util/reason';
import type { ServiceError } from '../../wire/service-error';
import { type FlowNode, type Message, type Red, text } from '../node-red';

/**
 * Reports an error as Node-RED's own `node.error` does. To hand it to a Catch node, Node-RED copies the message, and
 * that fails where the message is nested too deeply or has a property that throws: the error then goes out with the
 * message's id alone. Never throws.
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

/** Calls `done` for a message that went well. Never throws: a message that cannot be copied is warned about. */
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
