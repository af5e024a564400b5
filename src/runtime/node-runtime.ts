import type { FlowProperties, Settings } from '../settings/kinds';
import { type ReadSetting, settingsReaders } from './fields/settings-reader';
import { type FlowNode, type InFlow, type Message, type Red, text } from './node-red';
import { StatusLine } from './status/status-line';

/**
 * What a node works with inside Node-RED: the node as it stands in its flow, its settings, its texts and warnings, and its
 * status. Made once, with the node, and handed to all that it does. What belongs to one message is a `MessageWork`.
 */
export class NodeRuntime<Def = object> implements InFlow {
  readonly status: StatusLine;
  private readonly readers = new Map<Settings, (msg: Partial<Message>) => unknown>();

  /** @param def the node as it stands in the flow file */
  constructor(
    readonly red: Red,
    readonly node: FlowNode,
    readonly def: Def,
  ) {
    this.status = new StatusLine(node, red);
  }

  get id(): string {
    return this.node.id;
  }

  /**
   * Reads the node's settings for one message, as `settingsReader`; of the dialog alone where there is none.
   * @returns the reader; it throws ServiceError `config.invalid`, `validation.failed`
   */
  settings<S extends Settings>(
    this: NodeRuntime<FlowProperties<S>>,
    settings: S,
    msg: Partial<Message> = {},
  ): ReadSetting<S> {
    let reader = this.readers.get(settings);
    if (reader === undefined) {
      reader = settingsReaders(this, settings, this.def);
      this.readers.set(settings, reader);
    }
    return reader(msg) as ReadSetting<S>;
  }

  /** A text of the shared catalogue in the runtime's language. */
  text(key: string, values?: Record<string, string | number>): string {
    return text(this.red, key, values);
  }

  /** Warns with the text `warning.<key>` of the catalogue. */
  warn(key: string, values?: Record<string, string | number>): void {
    this.node.warn(this.text(`warning.${key}`, values));
  }

  /** Runs a step once the flows have started and all nodes exist, unless the node closes first. */
  whenStarted(step: () => void): void {
    const steps = findSteps(this.red.events);
    // Its own, so that two calls with one function are two steps.
    const own = (): void => step();
    steps.add(own);
    this.node.on('close', () => {
      steps.delete(own);
    });
  }
}

type Events = Red['events'];

/**
 * The steps that wait, by what emits. One listener serves all nodes: with one each, Node.js would warn of a leak from
 * the eleventh node of a flow on.
 */
const waiting = new WeakMap<Events, Set<() => void>>();

function findSteps(events: Events): Set<() => void> {
  const known = waiting.get(events);
  if (known !== undefined) {
    return known;
  }
  const steps = new Set<() => void>();
  waiting.set(events, steps);
  events.on('flows:started', () => {
    const due = [...steps];
    steps.clear();
    for (const step of due) {
      step();
    }
  });
  return steps;
}
