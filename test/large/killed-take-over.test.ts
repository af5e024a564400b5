import { killTakeOvers } from '../helpers/killed-take-over';

describe('a process killed before each change of a file in a take over', function () {
  this.timeout(900_000);

  it('leaves one model or the other in charge, and what nobody means is removed with the next start', () =>
    killTakeOvers((changes) => Array.from({ length: changes }, (_, i) => i + 1)));
});
