import { isObject, tryParseJson } from '../util/values';
import type { AlarmsState, ChangesState } from './alarms';
import type { WithoutTruthState } from './drift';
import type { VersionScoresState } from './live-scores';
import type { OpenState } from './predictions';
import type { ExpectedLossState, ScoredModelState } from './scored-model';
import type { SettledPrediction, WatchCounts } from './types';
import type { GenerationsState } from './watched-model';

export type KeptCounts = Omit<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'>;

/** Everything a watch knows, as JSON. Open predictions are immutable, so a state may be written later. */
export interface WatchState extends GenerationsState, WithoutTruthState {
  v: 1;
  /** Time of the newest row, milliseconds since 1970. */
  latest?: number;
  counts: KeptCounts;
  open: OpenState;
  expected: ExpectedLossState;
  scored?: ScoredModelState;
  /** Missing in states of package versions that did not keep it. */
  versions?: VersionScoresState | undefined;
  alarms: AlarmsState;
  changes: ChangesState;
  recent: SettledPrediction[];
}

/** Predictions per line. */
const PER_LINE = 200;

/** A state as lines of JSON, generated one by one so that a large state need not block the event loop. */
export function* stateLines(state: WatchState): Generator<string> {
  const { open } = state.open;
  yield JSON.stringify({ ...state, open: { ...state.open, open: open.length } });
  for (let from = 0; from < open.length; from += PER_LINE) {
    yield JSON.stringify(open.slice(from, from + PER_LINE));
  }
}

/** The state from such lines; undefined where they are incomplete. */
export function readStateLines(lines: Iterable<string>): WatchState | undefined {
  return stateOfLines(Array.from(lines, tryParseJson));
}

/** The same for lines that are parsed already, so that a caller can parse a large state in slices. */
export function stateOfLines([head, ...pieces]: unknown[]): WatchState | undefined {
  if (!isObject(head) || head.v !== 1 || !isObject(head.open) || !pieces.every(Array.isArray)) {
    return undefined;
  }
  const open = pieces.flat() as unknown[];
  return head.open.open === open.length
    ? ({ ...head, open: { ...head.open, open } } as unknown as WatchState)
    : undefined;
}
