import { strict as assert } from 'node:assert';

import { trainModel } from '../../../dist/src/learner';
import { heldOutLosses } from '../../doors/metrics';
import { isReferenceLosses, readLosses } from '../../doors/scoring';
import { classify, normals, numbers, regress, text } from '../learner/tables';

const ROWS = 300;
const MACHINES = ['b', 'a', 'd', 'c', 'e', 'f'];
const machine = Array.from({ length: ROWS }, (_, row) => MACHINES[row % MACHINES.length]!);
const x = normals(ROWS, 1);
const noise = normals(ROWS, 2);
/** One machine in six is far noisier. */
const target = Float64Array.from(x, (value, row) => value + noise[row]! * (machine[row] === 'd' ? 5 : 0.2));
const features = () => [numbers('x', x), text('machine', machine)];
const few = { n_estimators: 3 };

describe('losses of rows that a model had not seen', () => {
  it('are means of equal steps, 500 at most, and of each group', () => {
    const losses = Array.from({ length: 1203 }, (_, row) => row);
    const told = heldOutLosses(losses, { of: losses.map((row) => (row < 3 ? 1 : 0)), count: 2 });
    assert.deepEqual([told.step, told.means.length, told.means[0], told.means[1]], [3, 401, 1, 4]);
    assert.deepEqual(told.groups, { rows: [1200, 3], means: [602.5, 1] });
    const many = heldOutLosses(losses, { of: losses, count: losses.length });
    assert.equal(many.groups, undefined);
  });

  it('are told by a fit whose rows were held out in blocks or groups, in the order of the table', () => {
    const blocks = { ...few, inference_config: { BLOCKS: 25 } };
    const { losses, scores } = trainModel(regress(features(), target, { ...blocks, n_estimators: 5 })).report;
    assert.equal(losses!.means.length * losses!.step, ROWS);
    const mean = losses!.means.reduce((sum, one) => sum + one / losses!.means.length, 0);
    assert.ok(Math.abs(mean - scores.mae!) < 1e-4 * mean, `${mean} ${scores.mae}`);
    assert.equal(losses!.groups, undefined);
    assert.equal(trainModel(regress(features(), target, few)).report.losses, undefined);
  });

  it('are kept by the label of each group', () => {
    const groups = { ...few, n_estimators: 5, inference_config: { GROUP: 'machine' } };
    const report = JSON.parse(
      JSON.stringify(trainModel(regress(features(), target, groups)).report),
    ) as unknown;
    const kept = readLosses(report, { inTime: false, labels: MACHINES })!;
    assert.deepEqual(kept.means, []);
    assert.deepEqual(kept.keys!.map(({ key }) => key).sort(), [...MACHINES].sort());
    const [noisiest] = [...kept.keys!].sort((one, other) => other.loss - one.loss);
    assert.deepEqual([noisiest!.key, noisiest!.rows], ['d', 50]);
    assert.ok(isReferenceLosses(kept));
    assert.equal(readLosses(report, { inTime: false, labels: MACHINES.slice(1) }), undefined, 'other groups');
    assert.equal(readLosses(report, { inTime: true })!.keys, undefined);
  });

  it('of classes are log losses', () => {
    const labels = Array.from(target, (value) => (value > 0 ? 'high' : 'low'));
    const options = { ...few, n_estimators: 5, inference_config: { BLOCKS: 25 } };
    const { losses, scores } = trainModel(classify(features(), labels, options)).report;
    const mean = losses!.means.reduce((sum, one) => sum + one / losses!.means.length, 0);
    assert.ok(Math.abs(mean - scores.log_loss!) < 1e-4 * mean, `${mean} ${scores.log_loss}`);
  });

  it('that are not as they should be are not kept', () => {
    const good = { step: 2, means: [1, 2], groups: { rows: [40, 40], means: [1, 2] } };
    assert.ok(readLosses({ losses: good }, { inTime: true }));
    for (const losses of [
      { ...good, step: 0 },
      { ...good, means: [1, 'x'] },
      { ...good, means: new Array(501).fill(1) },
      { ...good, groups: { rows: [1], means: [1, 2] } },
      [],
      null,
    ]) {
      assert.equal(readLosses({ losses }, { inTime: true }), undefined, JSON.stringify(losses).slice(0, 60));
    }
    assert.ok(!isReferenceLosses({ step: 1, means: [], keys: [{ key: 1, rows: 2, loss: 3 }] }));
  });
});
