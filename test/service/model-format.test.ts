import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { LEARNER } from '../doors/service';
import { crc32c, crc32cToBase64 } from '../doors/table';
import { Harness } from './harness';

describe('Service: models of another format, or of another learner', () => {
  for (const format of ['TPM1', undefined]) {
    it(`fits anew instead of answering with a model of ${format ?? 'a version that named none'}`, async () => {
      const first = await Harness.start();
      const numbers = Array.from({ length: 60 }, (_, i) => i);
      const [x, y] = [`a\n${numbers.join('\n')}\n`, `y\n${numbers.map((i) => i * 2).join('\n')}\n`];
      const upload = await first.uploadTrain(x, y);
      const request = { train_set_upload_id: upload, task: 'regression', svc_config: { n_estimators: 1 } };
      const old = (await first.post('fit', request)).body.fitted_train_set_id as string;
      await first.stop(true);

      const folder = path.join(first.folder, 'models', old);
      const bytes = await readFile(path.join(folder, 'model.bin'));
      bytes.write(format ?? 'TPM1', 'latin1');
      await writeFile(path.join(folder, 'model.bin'), bytes);
      const entry = JSON.parse(await readFile(path.join(folder, 'model.json'), 'utf8')) as object;
      const changed = { ...entry, format, crc: crc32cToBase64(crc32c(bytes)) };
      await writeFile(path.join(folder, 'model.json'), JSON.stringify(changed));

      const log: string[] = [];
      const second = await Harness.start({
        dataDir: first.folder,
        log: (level, text) => log.push(`${level} ${text}`),
      });
      try {
        const again = await second.post('fit', request);
        assert.equal(again.status, 200, again.text);
        assert.equal(again.body.reused, false);
        const predicted = await second.predict(
          again.body.fitted_train_set_id as string,
          'a\n7\n',
          'regression',
        );
        assert.equal(predicted.status, 200, predicted.text);
        assert.match(log.join('\n'), /warn .*another version/);
        await assert.rejects(readFile(path.join(folder, 'model.json')), { code: 'ENOENT' });
        const other = await second.post('predict', {
          test_set_upload_id: upload,
          fitted_train_set_id: old,
          task_config: { task: 'regression' },
        });
        assert.equal(other.status, 404);
      } finally {
        await second.stop();
        await rm(first.folder, { recursive: true, force: true });
      }
    });
  }

  it('fits anew instead of answering with the model of an older learner, which can still predict', async () => {
    const first = await Harness.start();
    const numbers = Array.from({ length: 60 }, (_, i) => i);
    const [x, y] = [`a\n${numbers.join('\n')}\n`, `y\n${numbers.map((i) => i * 2).join('\n')}\n`];
    const request = {
      train_set_upload_id: await first.uploadTrain(x, y),
      task: 'regression',
      svc_config: { n_estimators: 1 },
    };
    const old = (await first.post('fit', request)).body.fitted_train_set_id as string;
    await first.stop(true);

    const file = path.join(first.folder, 'models', old, 'model.json');
    const entry = JSON.parse(await readFile(file, 'utf8')) as { fitKey: string };
    const key = JSON.parse(entry.fitKey) as { learner: string };
    assert.equal(key.learner, LEARNER);
    const fitKey = JSON.stringify({ ...key, learner: 'learner 0' });
    await writeFile(file, JSON.stringify({ ...entry, fitKey }));

    const second = await Harness.start({ dataDir: first.folder });
    try {
      const again = await second.post('fit', request);
      assert.deepEqual([again.status, again.body.reused], [200, false], again.text);
      assert.notEqual(again.body.fitted_train_set_id, old);
      for (const id of [old, again.body.fitted_train_set_id as string]) {
        const predicted = await second.predict(id, 'a\n7\n', 'regression');
        assert.equal(predicted.status, 200, predicted.text);
      }
      const once = await second.post('fit', request);
      assert.deepEqual(
        [once.body.fitted_train_set_id, once.body.reused],
        [again.body.fitted_train_set_id, true],
      );
    } finally {
      await second.stop();
      await rm(first.folder, { recursive: true, force: true });
    }
  });
});
