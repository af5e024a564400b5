import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { installedPackage } from '../../helpers/packed';

const tsc = createRequire(__filename).resolve('typescript/bin/tsc');

const PROGRAM = `
import {
  connect, encodeBatches, encodeTrainSet, ERROR_CODES, openTable, profileTable, readBatches, ServiceClient, ServiceError,
  startService, type ErrorCode, type ModelCard, type ModelLimits, type Prediction, type TableFile,
} from 'node-red-contrib-tabular-prediction';

export async function main(): Promise<number[][]> {
  const tabular = await connect({ baseUrl: 'https://example.org', token: 't', dialect: { apiName: 'acme' } });
  const card: ModelCard = await tabular.train({ path: 'rows.csv', target: 'y', task: 'regression', holdout: 10 });
  const scored = await tabular.predict({ table: [{ a: 1 }], model: card, signal: AbortSignal.timeout(1000) });
  console.log(scored.modelName, card.scores?.r2);
  const service = await startService({ dataDir: './data' });
  const client = new ServiceClient({ baseUrl: service.url, token: service.token, dialect: { fitRequest: 'flat' } });
  const table = await openTable([{ a: 1, y: 2 }]);
  const profile = await profileTable(table, { target: 'y' });
  const { x, y }: { x: TableFile; y: TableFile } = await encodeTrainSet(table, profile, { target: 'y' });
  const { train_set_upload_id } = await client.uploadTrainSet({ x, y }, { onProgress: (sent: number) => void sent });
  const { fitted_train_set_id } = await client.fit({ train_set_upload_id, task: 'regression' });
  const file = await encodeBatches(profile.columns, readBatches(table, profile.columns));
  const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x: file });
  const limits: ModelLimits = await client.getModelLimits();
  const rows: number | undefined = limits.max_model_limit?.train_set_max_rows;
  try {
    const result = await client.predict({ test_set_upload_id, fitted_train_set_id, task: 'regression', output_type: 'quantiles', quantiles: [0.5] });
    const prediction: Prediction = result.prediction;
    if (prediction.kind === 'quantiles') return prediction.values;
  } catch (error) {
    if (error instanceof ServiceError) {
      const code: ErrorCode = error.code;
      console.error(code, ERROR_CODES.includes(code), error.cause?.status, rows);
    }
  }
  // @ts-expect-error there is no such task
  await client.fit({ train_set_upload_id, task: 'clustering' });
  return [];
}
`;

/* Beside the packed package, as in a project of a user: what a declaration needs has to be in the tarball. */
describe('the types that are shipped', function () {
  this.timeout(180_000);

  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ]) {
    it(`a program in TypeScript compiles against them (${moduleResolution})`, () => {
      const folder = path.join(installedPackage(), '..', '..', `program-${moduleResolution}`);
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, 'main.ts'), PROGRAM);
      const options = {
        module,
        moduleResolution,
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable', 'dom'],
        types: ['node'],
        strict: true,
        noEmit: true,
        skipLibCheck: false,
      };
      fs.writeFileSync(
        path.join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: ['main.ts'] }),
      );
      const done = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
        encoding: 'utf8',
      });
      assert.ok(done.status === 0 || done.stdout !== '', done.stderr);
      // What is wrong in the declarations of others is theirs to mend.
      const ours = done.stdout
        .split('\n')
        .filter(
          (line) => /error TS/.test(line) && !/^[^(]*node_modules\/(?!node-red-contrib-tabular)/.test(line),
        );
      assert.deepEqual(ours, []);
    });
  }
});
