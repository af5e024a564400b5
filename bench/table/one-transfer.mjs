/* One transfer in a process of its own: node one-transfer.mjs upload|train <file> <address of the sink> */
import { createRequire } from 'node:module';

import { measured } from './memory.mjs';

const require = createRequire(import.meta.url);
const { ServiceClient } = require('../../dist/src/client');
const { fileAsIs } = require('../../dist/src/table');
const {
  encodeBatches,
  encodeTrainSet,
  openTable,
  openTableFile,
  profileTable,
  readBatches,
} = require('../../dist/src/program-table');

const [, , what, file, address] = process.argv;
const client = new ServiceClient({ baseUrl: address, token: 'bench' });
const FITTED = '7b1a4f4e-1f0a-4c7e-9a52-3f2f9a1c0001';

/** What the upload node does with a Parquet file that has the columns of its model. */
async function upload() {
  const noise = Array.from({ length: 20 }, (_, i) => ({ name: `measure_${i}`, type: 'number' }));
  const x = await fileAsIs(file, [{ name: 'id', type: 'integer' }, ...noise]);
  if (x === undefined) {
    throw new Error('The file should go up as it is.');
  }
  await client.uploadTestSet({ fitted_train_set_id: FITTED, x });
  return x.bytes;
}

/** What the fit node does with a CSV file, up to the fit itself. */
async function train() {
  const source = await openTableFile(file);
  const profile = await profileTable(source, { target: 'y' });
  const { x, y } = await encodeTrainSet(source, profile, { target: 'y' });
  await client.uploadTrainSet({ x, y });
  await Promise.all([x.dispose(), y.dispose()]);
  return x.bytes + y.bytes;
}

// Idle is with worker and client started, as in a Node-RED that has seen a message.
const warm = await openTable([{ a: 1 }]);
const columns = [{ name: 'a', type: 'integer' }];
const small = await encodeBatches(columns, readBatches(warm, columns));
await client.uploadTestSet({ fitted_train_set_id: FITTED, x: small });

const { result: bytes, ...figures } = await measured(what === 'upload' ? upload : train);
process.send({ ...figures, bytes }, () => process.exit(0));
