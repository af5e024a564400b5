import { killTakeOvers } from '../helpers/killed-take-over';

// Before each change: test/large/killed-take-over.test.ts; what each kill would leave: killed-in-between.test.ts.
describe('a process killed in the middle of a take over', function () {
  this.timeout(120_000);

  it('leaves one model or the other in charge, and what nobody means is removed with the next start', () =>
    killTakeOvers((changes) => [Math.ceil(changes / 2), changes - 4]));
});
