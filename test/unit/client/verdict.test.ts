import assert from 'node:assert/strict';

import { type RequestFailure, RULES, type Verdict, verdict } from '../../doors/client';

/** An example of each rule, with the verdicts for [metered repeatable, metered once, free repeatable, free once]. */
const EXAMPLES: [when: string, failure: RequestFailure, verdicts: [Verdict, Verdict, Verdict, Verdict]][] = [
  [
    'nothing left, and the next attempt would fail the same way',
    { sent: false, lasting: true },
    ['fail', 'fail', 'fail', 'fail'],
  ],
  ['nothing left', { sent: false }, ['retry', 'retry', 'retry', 'retry']],
  [
    'it left, no answer came, and the next attempt would fail the same way',
    { sent: true, lasting: true },
    ['fail', 'unknown', 'fail', 'unknown'],
  ],
  ['it left, and no answer came', { sent: true }, ['retry', 'unknown', 'retry', 'unknown']],
  [
    'the token budget is used up, and nothing says until when',
    { status: 429, spent: true, retryable: true },
    ['fail', 'fail', 'fail', 'fail'],
  ],
  [
    'the body says that it may be repeated',
    { status: 422, retryable: true },
    ['retry', 'retry', 'retry', 'retry'],
  ],
  [
    'it was not taken, and the body says not to repeat it',
    { status: 429, retryable: false },
    ['fail', 'fail', 'fail', 'fail'],
  ],
  ['it was not taken (429)', { status: 429 }, ['retry', 'retry', 'retry', 'retry']],
  [
    'it was not taken (503 at once), or a gateway says so',
    { status: 503 },
    ['retry', 'retry', 'retry', 'unknown'],
  ],
  ['the answer is empty (200)', { status: 200, empty: true }, ['retry', 'unknown', 'retry', 'unknown']],
  [
    'the service failed, and the body says not to repeat it',
    { status: 500, retryable: false },
    ['fail', 'unknown', 'fail', 'fail'],
  ],
  [
    'the service had begun and failed in earnest (not 503)',
    { status: 500, late: true },
    ['retry', 'unknown', 'fail', 'fail'],
  ],
  ['the service failed (408, 5xx)', { status: 502 }, ['retry', 'unknown', 'retry', 'unknown']],
  ['the request is at fault', { status: 422 }, ['fail', 'fail', 'fail', 'fail']],
];

const RIGHTS = [
  { metered: true, repeatable: true },
  { metered: true, repeatable: false },
  { metered: false, repeatable: true },
  { metered: false, repeatable: false },
];

describe('client: whether a request that failed is made again', () => {
  for (const [when, failure, verdicts] of EXAMPLES) {
    it(`where ${when}`, () => {
      assert.equal(RULES.find(({ applies }) => applies(failure))?.when, when);
      assert.deepEqual(
        RIGHTS.map((rights) => verdict(failure, rights)),
        verdicts,
      );
    });
  }

  it('by rules that each have an example here', () => {
    assert.deepEqual(
      EXAMPLES.map(([when]) => when),
      RULES.map(({ when }) => when),
    );
  });

  for (const [what, failure, expected] of [
    ['408 is a failure of the service', { status: 408 }, 'unknown'],
    [
      '503 after the service had begun does not say that nothing was done',
      { status: 503, late: true },
      'unknown',
    ],
    ['429 without a word of its own was not taken', { status: 429 }, 'retry'],
    ['402 and 429 of a budget that is used up are final', { status: 402, spent: true }, 'fail'],
    ['404 is final', { status: 404 }, 'fail'],
    ['500 that may be repeated is', { status: 500, retryable: true, late: true }, 'retry'],
  ] as [string, RequestFailure, Verdict][]) {
    it(`a metered request that may not be repeated: ${what}`, () => {
      assert.equal(verdict(failure, { metered: true, repeatable: false }), expected);
    });
  }
});
