/** How a request failed. */
export interface RequestFailure {
  /** Status of the answer, or the one that an error at status 200 speaks of; undefined where no whole answer came. */
  status?: number;
  /** The error came with status 200: the service had begun. */
  late?: boolean;
  /** The answer came with status 200 and is white space, or nothing at all. */
  empty?: boolean;
  /** The token budget is used up, and no `Retry-After` says until when. */
  spent?: boolean;
  /** What the body says of itself; it counts more than the status. */
  retryable?: boolean;
  /** Where no answer came: some of the request may have left. */
  sent?: boolean;
  /** Where no answer came: the next attempt would fail the same way (certificate, proxy password). */
  lasting?: boolean;
}

export interface RequestRights {
  /** It may be repeated although the service may have acted on it. */
  repeatable: boolean;
  /** It costs tokens. */
  metered?: boolean;
}

/** Whether to try again; `unknown` where it may have been carried out, and paid for. */
export type Verdict = 'retry' | 'fail' | 'unknown';

interface Rule {
  when: string;
  applies: (failure: RequestFailure) => boolean;
  /** For a request that costs, and for one that is free; each where it is repeatable, and where it is not. */
  metered: readonly [repeatable: Verdict, once: Verdict];
  free: readonly [repeatable: Verdict, once: Verdict];
}

/** The first rule that applies decides. */
export const RULES: readonly Rule[] = [
  {
    when: 'nothing left, and the next attempt would fail the same way',
    applies: ({ status, sent, lasting }) => status === undefined && sent !== true && lasting === true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'nothing left',
    applies: ({ status, sent }) => status === undefined && sent !== true,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    when: 'it left, no answer came, and the next attempt would fail the same way',
    applies: ({ status, lasting }) => status === undefined && lasting === true,
    metered: ['fail', 'unknown'],
    free: ['fail', 'fail'],
  },
  {
    when: 'it left, and no answer came',
    applies: ({ status }) => status === undefined,
    metered: ['retry', 'unknown'],
    free: ['retry', 'fail'],
  },
  {
    // A budget comes back with the next day or month, not in the seconds of a back-off.
    when: 'the token budget is used up, and nothing says until when',
    applies: ({ spent }) => spent === true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the body says that it may be repeated',
    applies: ({ retryable }) => retryable === true,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    when: 'it was not taken, and the body says not to repeat it',
    applies: (failure) => wasNotTaken(failure) && failure.retryable === false,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'it was not taken (429)',
    applies: ({ status }) => status === 429,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    // A gateway may have lost the service only after it had taken the request: a fit goes on then, and is paid for.
    // A predict ends with its connection.
    when: 'it was not taken (503 at once), or a gateway says so',
    applies: wasNotTaken,
    metered: ['retry', 'retry'],
    free: ['retry', 'fail'],
  },
  {
    when: 'the answer is empty (200)',
    applies: ({ empty }) => empty === true,
    metered: ['retry', 'unknown'],
    free: ['retry', 'fail'],
  },
  {
    when: 'the service failed, and the body says not to repeat it',
    applies: (failure) => hasFailed(failure) && failure.retryable === false,
    metered: ['fail', 'unknown'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the service had begun and failed in earnest (not 503)',
    applies: ({ status, late }) => late === true && status! >= 500 && status !== 503,
    metered: ['retry', 'unknown'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the service failed (408, 5xx)',
    applies: hasFailed,
    metered: ['retry', 'unknown'],
    free: ['retry', 'fail'],
  },
  {
    when: 'the request is at fault',
    applies: () => true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
];

/** What to do after a request failed. */
export function verdict(failure: RequestFailure, { repeatable, metered }: RequestRights): Verdict {
  const rule = RULES.find(({ applies }) => applies(failure))!;
  return (metered === true ? rule.metered : rule.free)[repeatable ? 0 : 1];
}

/** The service refused to begin, so that `Retry-After` says when it will. */
export function wasNotTaken({ status, late }: RequestFailure): boolean {
  return status === 429 || (status === 503 && late !== true);
}

function hasFailed({ status }: RequestFailure): boolean {
  return status !== undefined && (status === 408 || status >= 500);
}
