import { reasonOf } from '../../util/reason';
import type { ServiceError } from '../../wire/service-error';
import { type FlowNode, type Message, type Red, text } from '../node-red';
import { withSharedArrays } from './shared-arrays';

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
    withSharedArrays(msg, report);
  } catch (reason) {
    node.warn(text(red, 'warning.notCopied', { reason: reasonOf(reason) }));
    attempt(node, () => node.error(error, { _msgid: idOf(msg) }));
  }
}

/** Calls `done` for a message that succeeded. Never throws: if the message cannot be copied, it warns. */
export function reportDone(node: FlowNode, red: Red, msg: Message, done: () => void): void {
  try {
    withSharedArrays(msg, done);
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

/** Which Catch and Complete nodes Node-RED told the end of a message: one that runs at least, stopped ones only, or none. */
export type ToldNodes = 'running' | 'stopped' | 'none';

const HOOK = 'onReceive.tabular-prediction';
const TOLD: ReadonlySet<string> = new Set(['catch', 'complete']);

let watchers = 0;
let told: ToldNodes | undefined;

/**
 * Tells which nodes hear how a message ended. While Node-RED stops a flow, it still hands errors and completions to the
 * Catch and Complete nodes of that flow, though these no longer listen. Its hooks are called for every message of every
 * flow, so they are used only while a node closes.
 * @returns `during` runs a step that ends one message, and answers who was told; `end` must be called when the node has
 * closed
 */
export function watchToldEnds(red: Red): { during(step: () => void): ToldNodes; end(): void } {
  if (watchers++ === 0) {
    red.hooks.add(HOOK, ({ destination: { node } }: { destination: { node: FlowNode } }) => {
      if (told === undefined || !TOLD.has(node.type)) {
        return;
      }
      if (isRunning(red, node)) {
        told = 'running';
      } else if (told === 'none') {
        told = 'stopped';
      }
    });
  }
  return {
    during(step) {
      // Where Node-RED delivers at once, a Catch node may lead to another message that ends within this step.
      const outer = told;
      told = 'none';
      try {
        step();
        return told;
      } finally {
        told = outer;
      }
    },
    end() {
      if (--watchers === 0) {
        red.hooks.remove(HOOK);
      }
    },
  };
}

/** Node-RED forgets a node before it closes it. */
function isRunning(red: Red, node: FlowNode): boolean {
  return red.nodes.getNode(node.id) === node;
}
