import assert from 'node:assert/strict';

import { Detector } from '../../doors/anomaly';
import {
  BEGINS,
  cellsOf,
  fitIfDue,
  ROWS_A_DAY,
  ROWS_A_WEEK,
  simulatedMachine,
  STEP_MS,
} from '../../helpers/simulated-machine';

describe('a sensor that leaves its middle for a reading now and then', function () {
  this.timeout(120_000);

  const TAUGHT = 2 * ROWS_A_WEEK;
  /** A valve that opens about once in 13 hours. */
  const EVERY = 157;
  const machine = simulatedMachine({ weeks: 2.5, seed: 52 });
  const cells = (row: number, more: object = {}): Map<string, number | string> =>
    new Map(
      Object.entries({ ...cellsOf(machine, row), valve: row % EVERY === 9 ? 20 + (row % 5) : 0, ...more }),
    );
  let taught: ReturnType<Detector['keep']>;

  before(() => {
    const detector = new Detector({ perWeek: 1, learn: 300, key: undefined, ignored: new Set() });
    for (let row = 0; row < TAUGHT; row++) {
      detector.teach(BEGINS + row * STEP_MS, cells(row));
    }
    fitIfDue(detector);
    taught = detector.keep();
  });

  function alarms(more: (row: number) => object): (string | undefined)[] {
    const detector = new Detector(
      { perWeek: 1, learn: 300, key: undefined, ignored: new Set() },
      structuredClone(taught),
    );
    const front: (string | undefined)[] = [];
    for (let row = TAUGHT; row < TAUGHT + ROWS_A_DAY; row++) {
      const { changes } = detector.take(BEGINS + row * STEP_MS, cells(row, more(row)));
      front.push(
        ...changes.flatMap((change) => (change.kind === 'alarm' ? [change.sensors[0]?.column] : [])),
      );
    }
    return front;
  }

  it('hides no fault of the others, and is none itself', () => {
    assert.deepEqual(
      alarms(() => ({})),
      [],
    );
    const off = alarms((row) => {
      const { flow } = cellsOf(machine, row) as { flow: number };
      return row >= TAUGHT + 100 ? { flow: flow + 0.15 } : {};
    });
    assert.deepEqual(off, ['flow']);
  });

  it('is told where it stays away', () => {
    const open = alarms((row) => (row >= TAUGHT + 100 ? { valve: 20 } : {}));
    assert.equal(open[0], 'valve');
  });
});
