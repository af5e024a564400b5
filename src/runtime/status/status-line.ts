import type { NodeStatus } from 'node-red';

import type { Challenger, ModelCard, ModelScores } from '../../models/cards';
import { type FlowNode, number, type Red, text } from '../node-red';
import { inUsualUnit, RARE_FROM, STATUS_WIDTH, widthOfText } from './in-words';

/** The shortest time between two statuses of one node, in milliseconds: the editor redraws at each. */
const INTERVAL_MS = 250;

/** The window that speed is measured over, in milliseconds: long enough to be steady, short enough to follow changes. */
const WINDOW_MS = 5_000;
const STEP_MS = 250;
/** No speed is given before this time, in milliseconds. */
const LEAST_MS = 1_000;

/** The speed of work that reports its progress now and then. */
export class Pace {
  private readonly samples: { at: number; done: number }[] = [];
  private last = { at: 0, done: 0 };

  /** @param at milliseconds, of a clock that only goes forward */
  note(done: number, at: number): void {
    this.last = { at, done };
    const { samples } = this;
    if (samples.length === 0 || at - samples.at(-1)!.at >= STEP_MS) {
      samples.push(this.last);
      while (at - samples[0]!.at > WINDOW_MS) {
        samples.shift();
      }
    }
  }

  /** Undefined if it is too early to tell, or if nothing moves. */
  perSecond(): number | undefined {
    const first = this.samples[0];
    const ms = first === undefined ? 0 : this.last.at - first.at;
    if (first === undefined || ms < LEAST_MS) {
      return undefined;
    }
    const speed = (1000 * (this.last.done - first.done)) / ms;
    return speed > 0 ? speed : undefined;
  }

  secondsLeft(total: number): number | undefined {
    const speed = this.perSecond();
    return speed === undefined ? undefined : Math.ceil((total - this.last.done) / speed);
  }
}

/** A time such as `6 days`, in the unit that people would use. @param ms milliseconds */
export function timeText(red: Red, ms: number): string {
  const { key, value, decimals } = inUsualUnit(ms);
  const rounded = Number(value.toFixed(decimals));
  const shown = number(red, rounded, Number.isInteger(rounded) ? 0 : decimals);
  return text(red, `status.time.${key}`, { value: shown });
}

export type StatusKind = 'busy' | 'ready' | 'doubtful' | 'error' | 'waiting' | 'plain';

const LOOK: Record<StatusKind, Pick<NodeStatus, 'fill' | 'shape'>> = {
  busy: { fill: 'blue', shape: 'dot' },
  waiting: { fill: 'yellow', shape: 'ring' },
  ready: { fill: 'green', shape: 'dot' },
  /** Done, but the result may not be worth much. */
  doubtful: { fill: 'yellow', shape: 'dot' },
  error: { fill: 'red', shape: 'ring' },
  plain: { fill: 'grey', shape: 'ring' },
};

/**
 * The progress of a node in numbers: a Status node gets it as `msg.status.progress`. Unknown values are left out.
 * Node-RED hands the whole status object to Status nodes, and its text, colour and shape alone to the editor.
 */
export interface Progress {
  phase: 'reading' | 'uploading' | 'fitting' | 'predicting' | 'collecting' | 'sending' | 'live';
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
  /** Machines that readings came from. */
  keys?: number;
  /** Readings so far, and how many of them came too late, came again, or were of the future. */
  readings?: number;
  late?: number;
  repeated?: number;
  future?: number;
  /** Rows of plans so far, and rows that left without something that was to be known ahead. */
  planned?: number;
  unknown_ahead?: number;
}

/** A status: the catalogue's text `status.<key>` with its values, and the numbers. */
export interface Shown {
  key: string;
  values?: Record<string, string | number>;
  progress?: Progress;
  /** Shown in its place where it takes more than `STATUS_WIDTH`. */
  shorter?: Pick<Shown, 'key' | 'values' | 'shorter'>;
}

type Status = NodeStatus & { progress?: Progress };

/**
 * The status of a node. It is set for every message of a stream, so only the newest is kept and passed to Node-RED at
 * most four times a second.
 */
export class StatusLine {
  private last = -Infinity;
  private pending: (() => Status) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private shown = '';
  private ended = false;
  private failed = false;
  private told = false;
  private idle = false;

  constructor(
    private readonly node: FlowNode,
    private readonly red: Red,
  ) {}

  /** Shows the catalogue's text `status.<key>`. */
  show(kind: StatusKind, key: string, values?: Shown['values'], progress?: Progress): void {
    if (kind === 'ready' || kind === 'doubtful') {
      this.failed = false;
    }
    this.showLater(kind, () => ({ key, values, progress }));
  }

  /** Shows what a message brought about; it stays until there is work again. */
  tell(key: string, values: Shown['values']): void {
    this.show('ready', key, values);
    this.told = true;
  }

  /** There is work: what was told has had its time. */
  begin(): void {
    this.told = false;
  }

  /** Shows the state that a message left the node in: an error before it has had its time. */
  become(make: () => Shown & { kind: StatusKind }): void {
    this.failed = false;
    this.put(() => this.made(make()));
  }

  /** Shows a text while no message has anything to show. */
  showIdle(shown: Shown & { kind: StatusKind }): void {
    if (this.last === -Infinity || this.idle) {
      this.become(() => shown);
      this.idle = true;
    }
  }

  /** Calls `make` when it is this status's turn, and shows the result, unless a newer status has come. */
  showLater(kind: StatusKind, make: () => Shown): void {
    this.put(() => this.made({ kind, ...make() }));
  }

  private made({ kind, progress, ...shown }: Shown & { kind: StatusKind }): Status {
    return { ...LOOK[kind], text: this.fitting(shown), ...(progress !== undefined && { progress }) };
  }

  /** The longest of its texts that fits; the shortest is cut where a name in it is too long. */
  private fitting({ key, values, shorter }: Omit<Shown, 'progress'>): string {
    const text = this.text(key, values);
    // Without a catalogue the text is its key, which only says something whole.
    if (widthOfText(text) <= STATUS_WIDTH || text.includes(`status.${key}`)) {
      return text;
    }
    return shorter === undefined ? cut(text) : this.fitting(shorter);
  }

  /** The catalogue's text `status.<key>`. */
  text(key: string, values?: Shown['values']): string {
    return text(this.red, `status.${key}`, values);
  }

  /** A time in words. @param ms milliseconds */
  time(ms: number): string {
    return timeText(this.red, ms);
  }

  /** A number as the runtime's language writes it. */
  number(value: number, digits?: number): string {
    return number(this.red, value, digits);
  }

  /** Shows a text that needs no translation: an error's code. */
  literal(kind: StatusKind, literal: string): void {
    this.put(() => ({ ...LOOK[kind], text: literal }));
  }

  /** Shows the code of an error; it stays until a message succeeds. */
  fail(code: string): void {
    this.failed = true;
    this.literal('error', code);
  }

  /** A message succeeded: an error that is still shown may be replaced. */
  succeed(): void {
    if (!this.failed) {
      return;
    }
    this.failed = false;
    this.show('ready', 'ready');
  }

  /** Nothing is under way. The load is reported a moment late: an error, or what was told meanwhile, is newer. */
  rest({ key, values }: Shown = { key: 'ready' }): void {
    if (!this.failed && !this.told) {
      this.show('ready', key, values);
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

function cut(text: string): string {
  const characters = Array.from(text);
  while (widthOfText(characters.join('')) >= STATUS_WIDTH) {
    characters.pop();
  }
  return `${characters.join('')}…`;
}

/** Why a new fit did not take over, where that is worth saying in place of the score. */
const STAYS = ['not_better', 'label_noise', 'unusual_rows', 'too_few_rows'] as const;

/** Fewer digits would show a score from here on as 1. */
const NEAR_ONE = 0.995;
const MOST_DIGITS = 4;

/**
 * What a fit node shows of its model: its score if known, next to the score without a model; otherwise the detected
 * task. A model that is no better than none is not shown in green.
 */
export function fittedStatus(
  status: StatusLine,
  card: ModelCard,
  taskFound: boolean,
): Shown & { kind: StatusKind } {
  const { accuracy, r2, baseline } = (card.scores ?? {}) as Partial<ModelScores>;
  if (baseline?.rmse === 0 || baseline?.accuracy === 1) {
    return { kind: 'doubtful', key: 'fitted.constant' };
  }
  const kind = card.doubts === undefined ? 'ready' : 'doubtful';
  const scored = (name: 'accuracy' | 'r2', score: number): Shown & { kind: StatusKind } => {
    const without = scoreWithout(card, name);
    const values = { score: shownScore(status, score) };
    return without === undefined
      ? { kind, key: `fitted.${name}`, values }
      : {
          kind: score > without.score ? kind : 'doubtful',
          key: `fitted.${name}${without.isNow ? 'OverNow' : 'Over'}`,
          values: { ...values, without: shownScore(status, without.score) },
          shorter: { key: `fitted.${name}`, values },
        };
  };
  const ranked = findRanking(card);
  if (ranked !== undefined) {
    const shown = kind === 'ready' && !ranked.tells ? 'doubtful' : kind;
    const values = { score: shownArea(status, ranked.rocAuc) };
    return {
      kind: shown,
      key: 'fitted.rocAucOver',
      values,
      shorter: { key: 'fitted.rocAuc', values },
    };
  }
  if (accuracy !== undefined) {
    return scored('accuracy', accuracy);
  }
  if (r2 !== undefined) {
    return scored('r2', r2);
  }
  if (taskFound) {
    return { kind, key: `fitted.${card.task}` };
  }
  return card.rows > 0
    ? { kind, key: 'fitted.ready', values: { rows: card.rows } }
    : { kind, key: 'fitted.plain' };
}

/**
 * How a model ranks two labels of which one is rare, or that a threshold answers, whose accuracy is another; and whether
 * its probabilities tell more than that it is rare.
 */
function findRanking({ scores, threshold }: ModelCard): { rocAuc: number; tells: boolean } | undefined {
  const { roc_auc: rocAuc, log_loss: loss = 0, baseline } = (scores ?? {}) as Partial<ModelScores>;
  const { accuracy: share = 0, log_loss: without = Infinity } = baseline ?? {};
  const isRanked = share >= RARE_FROM || threshold !== undefined;
  return rocAuc === undefined || !isRanked ? undefined : { rocAuc, tells: loss < without };
}

/** The better score of the two that need no model: always the most frequent label or the mean, or no change. */
function scoreWithout(
  { scores }: ModelCard,
  name: 'accuracy' | 'r2',
): { score: number; isNow: boolean } | undefined {
  // A card kept by an earlier version may lack them.
  const { baseline, baseline_now: now } = (scores ?? {}) as Partial<ModelScores>;
  const [usual = -Infinity, asNow = -Infinity] = [baseline?.[name], now?.[name]];
  const score = Math.max(usual, asNow);
  return score === -Infinity ? undefined : { score, isNow: asNow > usual };
}

/** Shows the model of a fit, or that the one before stays. */
export function showFitted(
  status: StatusLine,
  card: ModelCard,
  taskFound: boolean,
  challenger?: Challenger,
): void {
  const why = STAYS.find((one) => one === challenger?.why);
  if (why !== undefined) {
    const scores = challenger?.scores;
    const values = scores && {
      loss: status.text(`stays.loss.${scores.loss}`),
      own: status.number(scores.champion, 3),
      other: status.number(scores.challenger, 3),
    };
    status.show('ready', `stays.${why}`, values);
    return;
  }
  status.become(() => fittedStatus(status, card, taskFound));
}

/** After a roll back: the version that is in charge now, and how good it is. */
export function showVersion(status: StatusLine, card: ModelCard): void {
  status.become(() => versionStatus(status, card));
}

/** What a fit node shows of a version that another one was put aside for. */
export function versionStatus(status: StatusLine, card: ModelCard): Shown & { kind: StatusKind } {
  const { kind, ...shown } = fittedStatus(status, card, false);
  const { key, values } = shown.shorter ?? shown;
  const { version } = card;
  return {
    kind,
    key: 'fitted.version',
    values: { version, text: status.text(key, values) },
    shorter: { key: 'fitted.versionAlone', values: { version } },
  };
}

/** After a fit whose model did not take charge. */
export function showStays(status: StatusLine, { version }: ModelCard, aside: number): void {
  status.show('doubtful', 'fitted.stays', { version, aside });
}

/**
 * Two digits; near 1 as many as the sidebar has, at most four, and never rounded up to 1. Just below 0 it is not shown as
 * -0.00.
 */
function shownScore(status: StatusLine, score: number): string {
  if (score < NEAR_ONE || score >= 1) {
    return status.number(Math.abs(score) < 0.005 ? 0 : score, 2);
  }
  const digits = Math.min(MOST_DIGITS, Math.max(3, -Math.floor(Math.log10(1 - score))));
  return status.number(Math.min(score, 1 - 10 ** -digits), digits);
}

/** As many digits as the sidebar has. */
function shownArea(status: StatusLine, area: number): string {
  return area < NEAR_ONE ? status.number(Number(area.toFixed(3))) : shownScore(status, area);
}
