import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { flowers, type Harness, infoOf, putFile } from './harness';
import { sharedService } from './shared';

const PREDICTS = 60;

describe('Service: small test sets', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  /** Every file and folder below, with the time of its last change. */
  async function everything(): Promise<string[]> {
    const names = await readdir(h.folder, { recursive: true });
    const aged = names
      // The heart of the lock beats.
      .filter((name) => name !== 'lock')
      .map(async (name) => `${name} ${(await stat(path.join(h.folder, name))).mtimeMs}`);
    return (await Promise.all(aged)).sort();
  }

  it(`writes nothing to the disk for ${PREDICTS} predicts of one row`, async function () {
    this.timeout(60_000);
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    await h.predict(fitted, 'length,width,place\n1,2,north\n', 'classification');
    const before = await everything();
    for (let i = 0; i < PREDICTS; i += 10) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, k) =>
          h.predict(fitted, `length,width,place\n${(i + k) / 100},2,north\n`, 'classification'),
        ),
      );
      assert.ok(answers.every(({ status, body }) => status === 200 && body.prediction.length === 1));
    }
    assert.deepEqual(await everything(), before);
    const status = (await h.get('get_service_status')).body;
    assert.ok(status.test_set_uploads > 0 && status.memory_bytes > 0);
  });

  it('writes a larger one, whether or not its size was announced', async () => {
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    const large = x + '1,2,north\n'.repeat(7000);
    const onDisk = async (): Promise<number> => (await readdir(path.join(h.folder, 'uploads'))).length;
    const before = await onDisk();
    for (const info of [infoOf(large), { format: 'csv' }]) {
      const { body } = await h.post('prepare_test_set_upload', {
        fitted_train_set_id: fitted,
        x_test_info: { ...info, hash: null },
      });
      assert.equal((await putFile(body.x_test_info, large)).status, 200);
      const answer = await h.post('predict', {
        test_set_upload_id: body.test_set_upload_id,
        fitted_train_set_id: fitted,
        task_config: { task: 'classification' },
      });
      assert.equal(answer.body.prediction.length, 7090, answer.text.slice(0, 300));
    }
    assert.equal(await onDisk(), before + 2);
  });

  it('checks size and hash as of any other', async () => {
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    const rows = 'length,width,place\n7,7,north\n';
    const prepare = () =>
      h.post('prepare_test_set_upload', { fitted_train_set_id: fitted, x_test_info: infoOf(rows) });
    const { body } = await prepare();
    const put = async (text: string) => (await putFile(body.x_test_info, text)).status;
    assert.deepEqual(
      [await put(rows.slice(1)), await put(`${rows}x`), await put(rows.replace('7', '8')), await put('')],
      [400, 400, 400, 400],
    );
    assert.deepEqual([await put(rows), await put(rows), await put(rows.replace('7', '8'))], [200, 200, 400]);
  });
});
