import { isObject, tryParseJson } from '../util/json';
import type { WatchState } from './watch-state';

/** Predictions of one line. */
const PER_LINE = 200;

/** A state as lines of JSON, made one after the other: a large one need not hold the event loop. */
export function* stateLines(state: WatchState): Generator<string> {
  const { open } = state.open;
  yield JSON.stringify({ ...state, open: { ...state.open, open: open.length } });
  for (let from = 0; from < open.length; from += PER_LINE) {
    yield JSON.stringify(open.slice(from, from + PER_LINE));
  }
}

/** The state of such lines; undefined where they are not whole. */
export function readStateLines(lines: Iterable<string>): WatchState | undefined {
  let head: Record<string, unknown> | undefined;
  const open: unknown[] = [];
  for (const line of lines) {
    const value = line === '' ? [] : tryParseJson(line);
    if (head === undefined) {
      if (!isObject(value) || value.v !== 1 || !isObject(value.open)) {
        return undefined;
      }
      head = value;
    } else if (Array.isArray(value)) {
      open.push(...(value as unknown[]));
    } else {
      return undefined;
    }
  }
  if (head === undefined || (head.open as Record<string, unknown>).open !== open.length) {
    return undefined;
  }
  return { ...head, open: { ...(head.open as object), open } } as unknown as WatchState;
}
