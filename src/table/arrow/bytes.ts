import { SliceSizer } from '../../util/concurrency';
import { BytesBlob } from '../storage/blob';
import { openIpc, unmarkedWarning } from './ipc';
import { type ArrowBatch, ArrowSource } from './source';

/** Arrow's IPC format in memory, the stream or the file kind. Errors: `table.invalid`, `table.empty`. */
export async function openArrowBytes(bytes: Uint8Array, signal?: AbortSignal): Promise<ArrowSource> {
  const reader = await openIpc(new BytesBlob(bytes));
  const sizer = new SliceSizer(reader.fields.length);
  const batches: ArrowBatch[] = [];
  let numRows = 0;
  for await (const { batch } of reader.batches()) {
    batches.push(batch);
    numRows += batch.numRows;
    await sizer.step(signal);
  }
  return new ArrowSource(
    'parsed',
    { numRows, schema: { fields: reader.fields }, batches },
    unmarkedWarning(reader, numRows),
  );
}
