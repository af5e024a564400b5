import type { TrainRequest } from '../types';

/** What hosted services are known to ask of a thinking fit. */
const MIN_ROWS = 500;
const MAX_SECONDS = 2400;

/** What a hosted service will probably say of a thinking fit, said before a table is uploaded in vain. */
export function thinkingWarnings(key: string, { thinking, systems }: TrainRequest, rows: number): string[] {
  const isThinking = thinking?.effort !== undefined || systems?.includes('thinking') === true;
  if (key === 'embedded' || !isThinking) {
    return [];
  }
  const warnings: string[] = [];
  if (rows > 0 && rows < MIN_ROWS) {
    warnings.push(
      `Thinking needs at least ${MIN_ROWS} rows on the services known so far; this train set has ${rows}.`,
    );
  }
  if ((thinking?.timeoutSecs ?? 0) > MAX_SECONDS) {
    warnings.push(
      `Thinking may take ${MAX_SECONDS} s at most on the services known so far; the time limit is ${thinking!.timeoutSecs} s.`,
    );
  }
  return warnings;
}
