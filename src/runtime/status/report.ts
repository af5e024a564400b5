import { types } from 'node:util';

import { readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { type FlowNode, type InFlow, type Message, type Red, text } from '../node-red';

/**
 * Reports an error as `node.error` does. For a Catch node, Node-RED copies the message, which fails if the message is
 * nested too deeply or has a property that throws: the error is then sent with the id of the message alone. Never
 * throws.
 */
export function reportError(
  { red, node }: InFlow,
  msg: Message,
  error: ServiceError,
  report: () => void = () => node.error(error, msg),
): void {
  try {
    withSharedArrays(msg, report);
  } catch (reason) {
    node.warn(text(red, 'warning.notCopied', { reason: readReason(reason) }));
    attempt(node, () => node.error(error, { _msgid: readId(msg) }));
  }
}

/** Calls `done` for a message that succeeded. Never throws: if the message cannot be copied, it warns. */
export function reportDone({ red, node }: InFlow, msg: Message, done: () => void): void {
  try {
    withSharedArrays(msg, done);
  } catch (reason) {
    node.warn(text(red, 'warning.notCompleted', { reason: readReason(reason) }));
  }
}

function attempt(node: FlowNode, step: () => void): void {
  try {
    step();
  } catch (reason) {
    node.warn(readReason(reason));
  }
}

function readId(msg: Message): string {
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
/** The end of a message that is being told, and who was told so far. `red` knows which nodes run. */
let ending: { red: Red; told: ToldNodes } | undefined;

/**
 * Tells which nodes hear how a message ended. While Node-RED stops a flow, it still hands errors and completions to the
 * Catch and Complete nodes of that flow, though these no longer listen. Its hooks are called for every message of every
 * flow, so they are used only while a node closes.
 * @returns `during` runs a step that ends one message, and answers who was told; `end` must be called when the node has
 * closed
 */
export function watchToldEnds(red: Red): { during(step: () => void): ToldNodes; end(): void } {
  watchers++;
  // Node-RED removes all hooks when it stops.
  if (!red.hooks.has(HOOK)) {
    red.hooks.add(HOOK, ({ destination: { node } }: { destination: { node: FlowNode } }) => {
      if (ending === undefined || !TOLD.has(node.type)) {
        return;
      }
      if (isRunning(ending.red, node)) {
        ending.told = 'running';
      } else if (ending.told === 'none') {
        ending.told = 'stopped';
      }
    });
  }
  return {
    during(step) {
      // Where Node-RED delivers at once, a Catch node may lead to another message that ends within this step.
      const outer = ending;
      const own: typeof ending = { red, told: 'none' };
      ending = own;
      try {
        step();
        return own.told;
      } finally {
        ending = outer;
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

/** Typed arrays of fewer values are copied in a millisecond or two. */
const MIN_LENGTH = 1_000;
/** Values of a message that are looked at. */
const MAX_LOOKS = 20_000;

/**
 * Does work in which Node-RED may copy a message: for Catch and Complete nodes, and for the second and each further node
 * at an output. Large typed arrays in it are shared with the copies, as the bytes of a Buffer always are. Node-RED would
 * copy them value by value, each with its index as a name: a million values hold the event loop for more than a second.
 *
 * @param message a message, or messages as `send` takes them
 */
export function withSharedArrays<T>(message: unknown, work: () => T): T {
  // The function that copies (lodash.clonedeep) hands on as it is what has a tag that it does not know.
  const tagged = largeArrays(message).filter(
    (array) =>
      !Object.hasOwn(array, Symbol.toStringTag) &&
      Reflect.defineProperty(array, Symbol.toStringTag, { value: 'SharedArray', configurable: true }),
  );
  try {
    return work();
  } finally {
    for (const array of tagged) {
      Reflect.deleteProperty(array, Symbol.toStringTag);
    }
  }
}

/** The large typed arrays of a message, those that are near its beginning or not deep in it first. Never throws. */
function largeArrays(message: unknown): NodeJS.TypedArray[] {
  const found: NodeJS.TypedArray[] = [];
  const objects: unknown[] = [[message]];
  const seen = new Set<unknown>();
  let looks = 0;
  const look = (part: unknown): boolean => {
    if (typeof part === 'object' && part !== null) {
      if (types.isTypedArray(part)) {
        if (part.length >= MIN_LENGTH && !Buffer.isBuffer(part)) {
          found.push(part);
        }
      } else if (!seen.has(part)) {
        seen.add(part);
        objects.push(part);
      }
    }
    return ++looks < MAX_LOOKS;
  };
  try {
    for (let at = 0; at < objects.length && looks < MAX_LOOKS; at++) {
      lookInto(objects[at] as object, look);
    }
  } catch {
    // A getter or a Proxy throws: what was found until then has to do.
  }
  return found;
}

/**
 * Gives the parts of an object to `look`, until it has seen enough; not `req` and `res`, which Node-RED does not copy
 * either. Every message passes here.
 */
function lookInto(value: object, look: (part: unknown) => boolean): void {
  const isList = Array.isArray(value) || types.isMap(value) || types.isSet(value);
  if (!isList && (Object.hasOwn(value, 'req') || Object.hasOwn(value, 'res'))) {
    lookInto(
      Object.entries(value).flatMap(([name, part]) =>
        name === 'req' || name === 'res' ? [] : [part as unknown],
      ),
      look,
    );
    return;
  }
  for (const part of isList && !Array.isArray(value) ? value.values() : Object.values(value)) {
    if (!look(part)) {
      return;
    }
  }
}

/** Shorter texts occur in too many words to be hidden. */
const MIN_SECRET_LENGTH = 4;

/**
 * The same error without the given secrets. The layers below keep secrets out of their messages; this is the last
 * check before a Catch node or the log.
 */
export function withoutSecrets(error: ServiceError, secrets: readonly string[]): ServiceError {
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const strip = (value: string): string =>
    hidden.reduce((result, secret) => result.replaceAll(secret, '***'), value);
  const cause = error.cause === undefined ? undefined : stripped(error.cause, strip);
  const message = strip(error.message);
  const stack = error.stack === undefined ? undefined : strip(error.stack);
  if (message === error.message && stack === error.stack && cause === error.cause) {
    return error;
  }
  const clean = new ServiceError(error.code, message, cause);
  clean.stack = stack;
  return clean;
}

/** Strips texts; numbers and booleans stay as they are. Returns the same object if nothing is hidden. */
function stripped<Cause extends object>(cause: Cause, strip: (value: string) => string): Cause {
  const entries = Object.entries(cause).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? strip(value) : value,
  ]);
  return entries.every(([key, value]) => value === cause[key as keyof Cause])
    ? cause
    : (Object.fromEntries(entries) as Cause);
}
