import assert from 'node:assert/strict';

import { Call } from '../../doors/client';
import { stoppedClock } from '../../helpers/clock';

describe('the deadline of a call', () => {
  const clock = stoppedClock();

  it('is told as it was set, by a part of the call that began late too', () => {
    const call = new Call('upload', 400, []);
    clock.pass(150);
    const part = call.within(new AbortController().signal);
    clock.pass(249);
    assert.equal(part.ending, undefined);
    clock.pass(1);
    assert.equal(part.ending, 'timeout');
    assert.equal(part.over().message, 'The upload did not end within 0.4 s.');
    part.end();
    call.end();
  });
});
