import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { installedPackage } from '../../helpers/packed';

const PROGRAM = `
import {
  connect, encodeBatches, encodeTrainSet, ERROR_CODES, openTable, profileTable, readBatches, ServiceClient, ServiceError,
  startService, type ErrorCode, type ModelCard, type ModelLimits, type Prediction, type TableFile,
} from 'node-red-contrib-tabular-prediction';
import { ServiceClient as OwnClient } from 'node-red-contrib-tabular-prediction/client';
import { loadModel, type Model, predict, trainModel } from 'node-red-contrib-tabular-prediction/learner';
import { startService as start } from 'node-red-contrib-tabular-prediction/service';
import { openTable as open } from 'node-red-contrib-tabular-prediction/table';

export function learn(): Float64Array {
  const features = [{ name: 'a', kind: 'number' as const, values: Float64Array.of(1, 2) }];
  const model: Model = trainModel({ features, target: { task: 'regression', values: Float64Array.of(3, 4) }, options: {} });
  const result = predict(model, features, 2);
  // @ts-expect-error a model is read from bytes
  loadModel('model.bin');
  return result.task === 'regression' ? result.median() : result.probas;
}

export const same: boolean = OwnClient === ServiceClient && start === startService && open === openTable;

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

/** What a user has of @types. */
const TYPES = path.resolve(__dirname, '../../../node_modules/@types');
const compiler = path.join(path.dirname(require.resolve('typescript-7/package.json')), 'bin', 'tsc');

/* Beside the packed package, as in a project of a user: what a declaration needs has to be in the tarball. */
describe('the types that are shipped', function () {
  this.timeout(180_000);

  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ]) {
    it(`a program in TypeScript compiles against them (${moduleResolution})`, () => {
      const modules = path.join(installedPackage(), '..');
      const folder = path.join(modules, '..', `program-${moduleResolution}`);
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, 'main.ts');
      fs.writeFileSync(file, PROGRAM);
      fs.writeFileSync(
        path.join(folder, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            ...{ module, moduleResolution, target: 'es2022', lib: ['es2023', 'esnext.disposable', 'dom'] },
            ...{ types: ['node'], typeRoots: [TYPES], strict: true, exactOptionalPropertyTypes: true },
            ...{ noEmit: true, skipLibCheck: false },
          },
          files: ['main.ts'],
        }),
      );
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [compiler, '-p', '.', '--pretty', 'false', '--listFiles'],
        { cwd: folder, encoding: 'utf8', env: { ...process.env, GOGC: '400' } },
      );
      const lines = stdout.split('\n');
      const isOurs = (file: string) => /node_modules[\\/]node-red-contrib-tabular/.test(file);
      assert.ok(
        lines.filter((line) => isOurs(line) && /\.d\.ts\s*$/.test(line)).length > 20,
        stdout + stderr,
      );
      // What is wrong in the declarations of others is theirs to mend.
      const wrong = lines.filter((line) => {
        const [, file] = /^(?:(.*)\(\d+,\d+\): )?error TS/.exec(line) ?? ['', 'none'];
        return file === undefined || isOurs(file) || path.basename(file) === 'main.ts';
      });
      assert.deepEqual(wrong, []);
    });
  }
});
