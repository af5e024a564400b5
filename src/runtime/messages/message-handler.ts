import { setMaxListeners } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import { types } from 'node:util';

import type { Hooks } from '../../models/types';
import { isSparse, isTooWide, maybeEndless } from '../../table/columns/header';
import { Serial, Yielder } from '../../util/concurrency';
import { isThenable, readReason } from '../../util/values';
import { type ErrorCode, ServiceError, toServiceError } from '../../wire/service-error';
import type { Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { reportDone, reportError, watchToldEnds, withoutSecrets, withSharedArrays } from '../status/report';
import type { StatusLine } from '../status/status-line';
import { HandOver, InFlight } from './in-flight';
import { Follower } from './progress';

/** How far a message is searched: what throws is near its beginning, or a property that many rows have. */
const MAX_LOOKS = 20_000;
const MAX_DEPTH = 5;
/** Error codes of tables that are too large or malformed, or that nobody has looked at yet. */
const OF_TABLES: ReadonlySet<ErrorCode> = new Set(['limit.exceeded', 'table.invalid', 'validation.failed']);
/** How many rows are checked for very many properties. */
const LOOKS = 1000;
/** Values of a Map or a Set that are copied in some milliseconds. */
const LARGE = 10_000;

/**
 * The message in a form that a node can change: itself, or a shallow copy if its properties cannot be set (frozen, or
 * with accessors).
 * @throws ServiceError `validation.failed` for a property that throws when it is read, and for a message that is a
 * promise: awaiting it would call its `then`
 */
function usableMessage(msg: Message): Message {
  const usable = isOpen(msg) ? msg : plainCopy(msg);
  if (isThenable(usable)) {
    throw new ServiceError(
      'validation.failed',
      'The message is a promise (it has a function named "then"): await it before it is sent.',
    );
  }
  return usable;
}

function isOpen(msg: Message): boolean {
  if (!Object.isExtensible(msg)) {
    return false;
  }
  for (const { writable, configurable } of Object.values(Object.getOwnPropertyDescriptors(msg))) {
    if (writable !== true || configurable !== true) {
      return false;
    }
  }
  return true;
}

function plainCopy(msg: Message): Message {
  const read = (name: string): unknown => {
    try {
      return msg[name];
    } catch (error) {
      throw new ServiceError('validation.failed', `msg.${name} cannot be read: ${readReason(error)}`);
    }
  };
  return Object.fromEntries(Object.keys(msg).map((name) => [name, read(name)])) as Message;
}

/**
 * Which part of a message throws when it is read, as a sentence: `msg.payload.x cannot be read: boom`. That is a getter
 * or a Proxy. Undefined if no part does, of those looked at. Never throws.
 */
export function unreadablePart(msg: object): string | undefined {
  let looks = 0;
  const seen = new Set<object>();

  function findPart(value: unknown, place: string, depth: number): string | undefined {
    if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) {
      return undefined;
    }
    seen.add(value);
    const own = reading(place, () => listNames(value));
    if ('problem' in own || depth === MAX_DEPTH) {
      return 'problem' in own ? own.problem : undefined;
    }
    for (const name of own.result) {
      if (++looks > MAX_LOOKS) {
        return undefined;
      }
      const at = Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`;
      const part = reading(at, () => (value as Record<string, unknown>)[name]);
      const problem = 'problem' in part ? part.problem : findPart(part.result, at, depth + 1);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  }

  return findPart(msg, 'msg', 0);
}

function reading<Result>(place: string, read: () => Result): { result: Result } | { problem: string } {
  try {
    return { result: read() };
  } catch (error) {
    return { problem: `${place} cannot be read: ${readReason(error)}` };
  }
}

/** A Proxy may refuse to be read at any name, so one is tried. */
function listNames(value: object): string[] {
  if (types.isProxy(value)) {
    Reflect.get(value, 'id');
  }
  return Array.isArray(value)
    ? Array.from({ length: Math.min(value.length, MAX_LOOKS) }, (_, index) => `${index}`)
    : Object.keys(value);
}

/**
 * Replaces by a few words what would take long to copy: Node-RED copies a failed message for each Catch node, a sparse
 * array index by index and an object name by name. 200 million empty places hold its event loop for half a minute, a
 * million names for ten seconds. The values themselves are not touched. Never throws.
 */
function dropUnwieldy(msg: Message, code: ErrorCode): void {
  if (!OF_TABLES.has(code)) {
    return;
  }
  try {
    for (const name of Object.keys(msg)) {
      const what = unwieldiness(msg[name]);
      if (what !== undefined) {
        msg[name] = `(${what}, left out of the message since Node-RED would take long to copy it)`;
      }
    }
  } catch {
    // A frozen message, a getter or a Proxy: it goes on as it is.
  }
}

function unwieldiness(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    return undefined;
  }
  const endless = maybeEndless();
  const whole = ofOne(value, endless);
  if (whole !== undefined) {
    return whole;
  }
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const [index, part] of parts.entries()) {
    const look = endless && index < LOOKS;
    const found = typeof part === 'object' && part !== null ? ofOne(part, look) : undefined;
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function ofOne(value: object, endless: boolean): string | undefined {
  if (ArrayBuffer.isView(value)) {
    return undefined;
  }
  if (isTooWide(value, endless)) {
    return 'an object of very many properties';
  }
  if ((types.isMap(value) || types.isSet(value)) && value.size > LARGE) {
    return `a ${types.isMap(value) ? 'Map' : 'Set'} of ${value.size} values`;
  }
  return Array.isArray(value) && isSparse(value) ? `a sparse array of ${value.length} places` : undefined;
}

/** How long a close waits, in milliseconds; Node-RED gives up on a node after 15 s. */
export interface ClosePatience {
  /** For aborted work to end. */
  drainMs: number;
  /** For the node's own cleanup, in addition. */
  closeMs: number;
}

export const PATIENCE: ClosePatience = { drainMs: 6_000, closeMs: 8_000 };

/** One send: a message, or for each output one, several or none (null). */
type Sending = Message | (Message | Message[] | null)[];

/** The output of a message: one send, several in this order, at once or one after the other, or nothing. */
export type Output = Sending | Sendings | LaterSendings | undefined;

/** Several sends in order, where one output must get its message before another. */
export class Sendings {
  constructor(readonly list: readonly Sending[]) {}
}

/** Several sends in order, each made when the one before has been sent and what made it has gone on. */
export class LaterSendings {
  constructor(readonly list: AsyncIterable<Sending>) {}
}

/**
 * One message on its way through a node: what stops its work, what that shows of itself, what is sent on, and how it ends.
 * It ends once; what comes later is ignored.
 */
export class MessageWork {
  private made: Hooks | undefined;
  private follower: Follower | undefined;
  private isOpen = true;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
  /** The message in a form that a node can change, once it is known to have one. */
  usable: Message | undefined;
  private readonly leave: (() => void) | undefined;

  constructor(
    private readonly node: NodeMessages<unknown>,
    private readonly received: Message,
    private readonly send: (output: Sending) => void,
    private readonly done: (error?: Error) => void,
  ) {
    this.signal = node.closing.signal;
    this.leave = HandOver.enter(received._msgid);
    node.inFlight.add(this);
  }

  get status(): StatusLine {
    return this.node.runtime.status;
  }

  /** For what works on below: it shows its progress in the node's status, and warns as the node. */
  get hooks(): Hooks {
    return (this.made ??= {
      signal: this.signal,
      // Most messages of a stream are done before they have anything to show.
      onStatus: (event) => (this.follower ??= new Follower(this.status)).show(event),
      onWarning: (warning) => this.node.runtime.node.warn(warning),
    });
  }

  /**
   * Sends on. Node-RED copies a message that goes to several nodes.
   * @throws ServiceError `validation.failed` where it cannot
   */
  output(output: Exclude<Output, LaterSendings>): void {
    // Where the close has settled the message already, a late result has nowhere to go.
    if (output === undefined || !this.isOpen) {
      return;
    }
    if (this.signal.aborted) {
      // The next nodes may be closed already: Node-RED would drop the output silently.
      throw closedError();
    }
    try {
      for (const sending of output instanceof Sendings ? output.list : [output]) {
        withSharedArrays(sending, () => this.send(sending));
      }
    } catch (error) {
      throw new ServiceError(
        'validation.failed',
        `Node-RED could not send the message on: ${readReason(error)}. A message that goes to several nodes is copied, ` +
          'which fails where it is nested too deeply or has a property that throws.',
      );
    }
  }

  fail(error: unknown): void {
    this.settle(finalError(readable(error, this.received), this.signal, this.node.handler.secrets?.()));
  }

  /** Ends the message, with an error or, where there is none, done. */
  settle(error?: ServiceError): void {
    if (!this.isOpen) {
      return;
    }
    this.isOpen = false;
    const { inFlight, handler, toldEnds } = this.node;
    inFlight.delete(this);
    this.leave?.();
    if (this.usable !== undefined) {
      handler.settled?.(this.usable);
    }
    if (toldEnds === undefined) {
      this.report(error);
      return;
    }
    const told = toldEnds.during(() => this.report(error));
    // A flow without a Complete node does not want to hear of what went well.
    if (told === 'stopped' || (told === 'none' && error !== undefined)) {
      this.node.untold++;
    }
  }

  private report(error: ServiceError | undefined): void {
    const { received, done, status } = this;
    const { runtime } = this.node;
    if (error === undefined) {
      status.succeed();
      reportDone(runtime, received, done);
      return;
    }
    if (error.code !== 'closed') {
      status.fail(error.code);
    }
    dropUnwieldy(received, error.code);
    reportError(runtime, received, error, () => done(error));
  }
}

export interface Handler<T> {
  /** The error of a message that came while so many others were under way; undefined where it is taken. */
  refuses?(underWay: number): ServiceError | undefined;
  /** A message was taken. @returns to be called once it has been read and its work has begun, or has failed before */
  taken?(): () => void;
  /** Reads what the message asks for. Runs one message at a time, in order of arrival. */
  read(msg: Message, work: MessageWork): T | Promise<T>;
  /** Does the work. Runs for many messages at a time. */
  run(input: T, msg: Message, work: MessageWork): Output | Promise<Output>;
  /** Frees the resources of one message; called once it has settled, either way. */
  settled?(msg: Message): void;
  /** Frees the resources of the node; called as soon as it closes, while aborted messages still settle. */
  close?(removed: boolean): void | Promise<void>;
  /** Texts that must not appear in an error. */
  secrets?(): readonly string[];
}

/**
 * How a node handles messages that keeps a state on disk: `read` does all of the work, so that a message is done before the
 * next one meets what it has changed.
 */
export function oneByOne(keeper: {
  refuses(underWay: number): ServiceError | undefined;
  close(removed: boolean): Promise<void>;
}): Pick<Handler<Output>, 'run' | 'refuses' | 'close'> {
  return {
    run: (output) => output,
    refuses: (underWay) => keeper.refuses(underWay),
    close: (removed) => keeper.close(removed),
  };
}

/**
 * Registers a node's input and close handlers. Every message ends in exactly one `done`: with an output, or with a
 * ServiceError that a Catch node sees with code, message and cause. On close the work is aborted, and remaining messages
 * end with the code `closed`; one warning counts those whose end no Catch or Complete node was told.
 */
export function handleMessages<T>(runtime: NodeRuntime, handler: Handler<T>, patience = PATIENCE): void {
  const { node, status } = runtime;
  const messages = new NodeMessages(runtime, handler);
  node.on('input', (received, send, done) => {
    void messages.take(received, new MessageWork(messages, received, send, done));
  });
  node.on('close', (removed: boolean, closed: () => void) => {
    messages.abort();
    // At once: of a node that is disabled or removed, Node-RED forgets the status as soon as this returns, and what is
    // cleared later stays in editors that are open.
    status.end();
    void messages.close(removed, patience).finally(closed);
  });
}

/** The messages of one node, from the first to the close. */
class NodeMessages<T> {
  readonly closing = new AbortController();
  readonly inFlight = new InFlight();
  private readonly serial = new Serial();
  private readonly yielder = new Yielder();
  /** Hears who is told the end of a message, once the node closes. */
  toldEnds: ReturnType<typeof watchToldEnds> | undefined;
  /** Messages whose end nobody was told. */
  untold = 0;

  constructor(
    readonly runtime: NodeRuntime,
    readonly handler: Handler<T>,
  ) {
    // Each message under way listens to this one signal.
    setMaxListeners(0, this.closing.signal);
  }

  /** Handles a message. Never rejects: it ends with its error. */
  async take(received: Message, work: MessageWork): Promise<void> {
    const { handler, yielder } = this;
    let begun: (() => void) | undefined;
    try {
      const refused = work.signal.aborted ? closedError() : handler.refuses?.(this.inFlight.size);
      if (refused !== undefined) {
        throw refused;
      }
      const msg = usableMessage(received);
      work.usable = msg;
      begun = handler.taken?.();
      const input = await this.serial.run(async () => {
        const due = yielder.due();
        if (due !== undefined) {
          // A burst of messages must not hold up the event loop.
          await due;
        }
        return handler.read(msg, work);
      });
      const running = handler.run(input, msg, work);
      begun?.();
      const output = await running;
      if (output instanceof LaterSendings) {
        for await (const sending of output.list) {
          work.output(sending);
        }
      } else {
        work.output(output);
      }
      work.settle();
    } catch (error) {
      begun?.();
      work.fail(error);
    }
  }

  abort(): void {
    this.toldEnds = watchToldEnds(this.runtime.red);
    this.closing.abort();
  }

  async close(removed: boolean, patience: ClosePatience): Promise<void> {
    const { runtime } = this;
    const freed = bounded(() => this.handler.close?.(removed), patience.closeMs, runtime);
    await this.inFlight.drained(patience.drainMs);
    this.inFlight.settleAll(closedError());
    await freed;
    // Messages sent to this node before the close are delivered in a later turn of the event loop.
    await immediate();
    this.toldEnds?.end();
    if (this.untold > 0) {
      runtime.warn('closed', { count: this.untold });
    }
  }
}

function closedError(): ServiceError {
  return new ServiceError('closed', 'The node was closed before the message was done.');
}

/** An error that nobody expected, or `validation.failed` where the message threw it as it was read. */
function readable(error: unknown, msg: Message): ServiceError {
  const known = toServiceError(error);
  const problem = known.code === 'internal' ? unreadablePart(msg) : undefined;
  return problem === undefined ? known : new ServiceError('validation.failed', problem);
}

function finalError(error: unknown, signal: AbortSignal, secrets: readonly string[] = []): ServiceError {
  const known = toServiceError(error);
  // Aborted work fails in many ways (a closed socket, a terminated worker); a flow sees one.
  if (signal.aborted && known.code !== 'closed') {
    return closedError();
  }
  return withoutSecrets(known, secrets);
}

/** Waits for a step, but not for ever; says so where it gives up, and when it fails. */
async function bounded(step: () => unknown, ms: number, runtime: NodeRuntime): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      runtime.warn('closesLate', { seconds: Math.round(ms / 1000) });
      resolve();
    }, ms);
  });
  const work = Promise.resolve()
    .then(step)
    .catch((error: unknown) => runtime.node.warn(toServiceError(error).message));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
