import assert from 'node:assert/strict';

import { type Answer, type Harness } from './harness';
import { sharedService } from './shared';

/** A fault where it is hot and loud together; `note` says nothing. */
function machine(): { x: string; y: string } {
  const rows = Array.from({ length: 400 }, (_, i) => {
    const heat = 40 + ((i * 37) % 60);
    const noise = 10 + ((i * 53) % 40);
    return {
      x: `${heat},${heat - 3},${noise},${'abcd'[i % 4]}`,
      fault: heat > 80 && noise > 25 ? 'yes' : 'no',
    };
  });
  return {
    x: `heat,heat mean 1h,noise,note\n${rows.map(({ x }) => x).join('\n')}\n`,
    y: `fault\n${rows.map(({ fault }) => fault).join('\n')}\n`,
  };
}

describe('Service: why a row is predicted as it is (EXPLAIN)', () => {
  const rows = 'heat,heat mean 1h,noise,note\n95,91,45,a\n50,48,20,b\n';
  let h: Harness;
  let fitted: string;
  before(async () => {
    h = await sharedService();
    const { x, y } = machine();
    const upload = await h.uploadTrain(x, y);
    const config = {
      n_estimators: 3,
      inference_config: {
        COSTS: [
          [0, 1],
          [9, 0],
        ],
      },
    };
    const answer = await h.post('fit', {
      train_set_upload_id: upload,
      task: 'classification',
      svc_config: config,
    });
    fitted = answer.body.fitted_train_set_id as string;
  });

  const ask = async (inner: unknown): Promise<Answer> =>
    h.post('predict', {
      test_set_upload_id: await h.uploadTest(fitted, rows),
      fitted_train_set_id: fitted,
      task_config: { task: 'classification', svc_config: { inference_config: inner } },
    });

  it('answers effects by cause that add up to the prediction', async () => {
    const groups = { heat: ['heat', 'heat mean 1h'] };
    const answer = await ask({
      COSTS: [
        [0, 1],
        [9, 0],
      ],
      EXPLAIN: { GROUPS: groups, LABEL: 'yes' },
    });
    assert.equal(answer.status, 200, answer.text);
    const { explanation, ignored_options: ignored } = answer.body.metadata;
    assert.deepEqual(ignored, []);
    assert.deepEqual(explanation.groups, ['heat', 'noise', 'note']);
    assert.deepEqual([explanation.rows, explanation.classes, explanation.left], [[0, 1], [1, 1], 0]);
    assert.equal(explanation.usual[2], null);
    assert.ok(explanation.usual[0][0] < 50 && explanation.usual[0][1] > 85, String(explanation.usual));
    assert.ok(explanation.means[0] > 50 && explanation.means[0] < 85);
    for (const row of [0, 1]) {
      const told = answer.body.prediction[row][1];
      const sum = explanation.effects[row].reduce((a: number, b: number) => a + b, explanation.bases[row]);
      assert.ok(Math.abs(sum - told) < 1e-9 && Math.abs(explanation.predictions[row] - told) < 1e-12);
    }
    const [heat, noise, note] = explanation.effects[0];
    assert.ok(heat > 0.2 && noise > 0.1 && Math.abs(note) < 0.05, String(explanation.effects[0]));
  });

  it('explains each answered class, or rows above a value alone', async () => {
    const { metadata } = (await ask({ EXPLAIN: true })).body;
    assert.deepEqual(metadata.explanation.classes, [1, 0]);
    const above = (await ask({ EXPLAIN: { LABEL: 'yes', ABOVE: 0.5 } })).body.metadata.explanation;
    assert.deepEqual(above.rows, [0]);
    assert.equal((await ask({ EXPLAIN: false })).body.metadata.explanation, undefined);
  });

  for (const wrong of [
    'yes',
    { LABEL: 'maybe' },
    { ABOVE: 'high' },
    { GROUPS: { heat: 'heat' } },
    { OF: 1 },
  ]) {
    it(`refuses ${JSON.stringify(wrong)}`, async () => {
      const answer = await ask({ EXPLAIN: wrong });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /inference_config\.EXPLAIN/);
    });
  }
});
