import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { answerLate, invalid } from '../../doors/service';

/** What a client gets, and what the log says, where the work behind a late answer fails after a while. */
async function failing(afterMs: number, error: Error) {
  const logged: string[] = [];
  const server = createServer((_, res) => {
    const work = sleep(afterMs).then(() => Promise.reject(error));
    const log = (_level: string, text: string): unknown => logged.push(text);
    void answerLate(res, work, { keepaliveMs: 20, route: 'quickstart', log });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' });
    const text = await answer.text();
    return { status: answer.status, body: JSON.parse(text) as Record<string, unknown>, logged };
  } finally {
    server.close();
  }
}

describe('Service: a late answer whose work fails', () => {
  for (const [when, afterMs, status] of [
    ['at once', 0, 500],
    ['after the first white space', 100, 200],
  ] as const) {
    it(`${when}: the log says why, the answer names no inner detail and that repeating does not help`, async () => {
      const answer = await failing(afterMs, new TypeError('thing is not a function'));
      assert.equal(answer.status, status);
      assert.equal(answer.body._streamed_error, status === 200 ? true : undefined);
      assert.equal(answer.body.status_code, status === 200 ? 500 : undefined);
      assert.equal(answer.body.retryable, false);
      assert.doesNotMatch(JSON.stringify(answer.body), /thing/);
      assert.equal(answer.logged.length, 1);
      assert.match(
        answer.logged[0]!,
        /POST request failed: TypeError: thing is not a function\n.*late-answer/,
      );
    });

    it(`${when}, refused: the answer says why, the log nothing`, async () => {
      const answer = await failing(afterMs, invalid('Column a is empty.'));
      assert.equal(answer.status, status === 200 ? 200 : 422);
      assert.match(JSON.stringify(answer.body), /Column a is empty/);
      assert.deepEqual(answer.logged, []);
    });
  }
});
