import assert from 'node:assert/strict';

import { seededRandom } from '../doors/util';
import { connectShared } from './shared';

type Kind = 'heat' | 'power' | 'strain' | undefined;

interface Row {
  type: string;
  air: number;
  process: number;
  speed: number;
  torque: number;
  wear: number;
}

interface Cause {
  column: string;
  effect: number;
}

/** A milling machine that fails by the rules of AI4I 2020 (S. Matzka, 2020), each failure of one kind alone. */
function milling(count: number, seed: number): { row: Row; kind: Kind }[] {
  const random = seededRandom(seed);
  const bell = () => random() + random() + random() - 1.5;
  const made: { row: Row; kind: Kind }[] = [];
  while (made.length < count) {
    const part = random();
    const type = part < 0.5 ? 'L' : part < 0.8 ? 'M' : 'H';
    const air = 300 + 3 * bell();
    const process = air + 10 + 3 * bell();
    const torque = 40 + 24 * bell();
    const speed = 1540 - 9 * (torque - 40) + 250 * bell();
    const wear = 250 * random();
    const row = { type, air, process, speed, torque, wear };
    const power = (torque * speed * 2 * Math.PI) / 60;
    const kinds: Record<NonNullable<Kind>, boolean> = {
      heat: process - air < 8.6 && speed < 1380,
      power: power < 3500 || power > 9000,
      strain: torque * wear > { L: 11_000, M: 12_000, H: 13_000 }[type],
    };
    const failed = (Object.keys(kinds) as NonNullable<Kind>[]).filter((kind) => kinds[kind]);
    if (failed.length < 2) {
      made.push({ row, kind: failed[0] });
    }
  }
  return made;
}

/** The columns that the rule of each kind is about. */
const ABOUT: Record<NonNullable<Kind>, string[]> = {
  heat: ['air', 'process', 'speed'],
  power: ['torque', 'speed'],
  strain: ['torque', 'wear'],
};

describe('causes of a machine failure', () => {
  it('are the columns of the rule by which it failed, for each kind of failure', async () => {
    const tabular = await connectShared();
    try {
      const train = milling(3000, 3).map(({ row, kind }) => ({ ...row, failure: kind ? 'yes' : 'no' }));
      const model = await tabular.train({ table: train, target: 'failure', options: { n_estimators: 2 } });
      const later = milling(4000, 4).filter(({ kind }) => kind);
      const asked = { table: later.map(({ row }) => row), model, explain: true, explainAbove: 0.5 };
      const { table } = await tabular.predict(asked);
      const causes = (table as { prediction_why: Cause[] | null }[]).map((row) => row.prediction_why);
      for (const kind of Object.keys(ABOUT) as NonNullable<Kind>[]) {
        const alarms = causes.filter((own, i): own is Cause[] => later[i]!.kind === kind && own !== null);
        const all = later.filter((one) => one.kind === kind).length;
        const first = alarms.filter(([cause]) => ABOUT[kind].includes(cause!.column) && cause!.effect > 0);
        const another = alarms.filter(
          (own) => own.filter(({ column }) => ABOUT[kind].includes(column)).length > 1,
        );
        assert.ok(alarms.length > 20 && alarms.length > 0.5 * all, `${kind}: ${alarms.length} of ${all}`);
        assert.ok(first.length >= 0.7 * alarms.length, `${kind}: ${first.length} of ${alarms.length}`);
        assert.ok(another.length >= 0.7 * alarms.length, `${kind}: ${another.length} of ${alarms.length}`);
      }
    } finally {
      await tabular.close();
    }
  }).timeout(120_000);
});
