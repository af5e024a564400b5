import type { NodeStatus } from 'node-red';

import { type FlowNode, number, type Red, text } from '../node-red';

/** Least time between two statuses of one node, milliseconds: the editor redraws at each. */
const INTERVAL_MS = 250;

export type StatusKind = 'busy' | 'ready' | 'doubtful' | 'error' | 'waiting' | 'plain';

const LOOK: Record<StatusKind, Pick<NodeStatus, 'fill' | 'shape'>> = {
  busy: { fill: 'blue', shape: 'dot' },
  waiting: { fill: 'yellow', shape: 'ring' },
  ready: { fill: 'green', shape: 'dot' },
  /** Done, but what came of it may not be worth much. */
  doubtful: { fill: 'yellow', shape: 'dot' },
  error: { fill: 'red', shape: 'ring' },
  plain: { fill: 'grey', shape: 'ring' },
};

/**
 * How far a node's work is, in numbers: a Status node finds it as `msg.status.progress`. What is not known is left out.
 * Node-RED hands the whole status object to Status nodes, and its text, colour and shape alone to the editor.
 */
export interface Progress {
  phase: 'reading' | 'uploading' | 'fitting' | 'predicting';
  /** Since this phase began. */
  seconds?: number;
  /** 0 to 100, whole. */
  percent?: number;
  seconds_left?: number;
  /** Sent so far. */
  bytes?: number;
  total_bytes?: number;
  bytes_per_second?: number;
  /** Scored so far. */
  rows?: number;
  total_rows?: number;
  /** Messages at the service, and waiting for a free slot. */
  in_flight?: number;
  waiting?: number;
}

/** A status: the catalogue's text `status.<key>` with its values, and the numbers. */
export interface Shown {
  key: string;
  values?: Record<string, string | number>;
  progress?: Progress;
}

type Status = NodeStatus & { progress?: Progress };

const lines = new WeakMap<FlowNode, StatusLine>();

/**
 * What a node shows under itself. Called for every message of a stream, so it keeps only the newest status
 * and gives it to Node-RED at most four times a second.
 */
export class StatusLine {
  private last = -Infinity;
  private pending: (() => Status) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private shown = '';
  private ended = false;
  private failed = false;
  private idle = false;

  /** The one line of a node. */
  static of(node: FlowNode, red: Red): StatusLine {
    const known = lines.get(node) ?? new StatusLine(node, red);
    lines.set(node, known);
    return known;
  }

  constructor(
    private readonly node: FlowNode,
    private readonly red: Red,
  ) {}

  /** Shows the catalogue's text `status.<key>`. */
  show(kind: StatusKind, key: string, values?: Shown['values'], progress?: Progress): void {
    if (kind === 'ready') {
      this.failed = false;
    }
    this.showLater(kind, () => ({ key, values, progress }));
  }

  /** Shows a text while there is nothing of a message to show. */
  showIdle(key: string, values?: Shown['values'], kind: StatusKind = 'plain'): void {
    if (this.last === -Infinity || this.idle) {
      this.show(kind, key, values);
      this.idle = true;
    }
  }

  /** Shows what `make` answers when the time of this status comes, if no newer one is there by then. */
  showLater(kind: StatusKind, make: () => Shown): void {
    this.put(() => {
      const { key, values, progress } = make();
      return { ...LOOK[kind], text: this.text(key, values), ...(progress !== undefined && { progress }) };
    });
  }

  /** The catalogue's text `status.<key>`. */
  text(key: string, values?: Shown['values']): string {
    return text(this.red, `status.${key}`, values);
  }

  /** A number as the runtime's language writes it. */
  number(value: number, digits?: number): string {
    return number(this.red, value, digits);
  }

  /** Shows a text that needs no translation: an error's code, a model's name. */
  literal(kind: StatusKind, literal: string): void {
    this.put(() => ({ ...LOOK[kind], text: literal }));
  }

  /** Shows an error's code; it stays until a message goes well. */
  fail(code: string): void {
    this.failed = true;
    this.literal('error', code);
  }

  /** A message went well: an error that still stands there has had its time. */
  succeed(): void {
    if (!this.failed) {
      return;
    }
    this.failed = false;
    this.show('ready', 'ready');
  }

  /** Nothing is under way. */
  rest(): void {
    if (!this.failed) {
      this.show('ready', 'ready');
    }
  }

  /** Shows nothing more, and leaves no timer. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.node.status({});
  }

  private put(make: () => Status): void {
    this.idle = false;
    if (this.ended) {
      return;
    }
    this.pending = make;
    if (this.timer !== undefined) {
      return;
    }
    const wait = this.last + INTERVAL_MS - performance.now();
    if (wait <= 0) {
      this.flush();
    } else {
      this.timer = setTimeout(() => this.flush(), wait);
      this.timer.unref();
    }
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const make = this.pending;
    this.pending = undefined;
    if (make === undefined || this.ended) {
      return;
    }
    const status = make();
    const key = JSON.stringify(status);
    if (key === this.shown) {
      return;
    }
    this.shown = key;
    this.last = performance.now();
    this.node.status(status);
  }
}
