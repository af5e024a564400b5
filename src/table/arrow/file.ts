import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/errors';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import { arrow } from '../packages/heavy-modules';
import { demandSame, type FileVersion, fileVersion } from '../storage/file-version';
import { openRegular } from '../storage/open-regular';
import { type ArrowBatch, assertRows, batchSlices } from './source';

/** An Arrow file on disk, read batch by batch: the IPC file kind, or the stream kind. */
export class ArrowFileSource implements SliceSource {
  readonly form: TableForm = 'file';

  private constructor(
    private readonly path: string,
    private readonly version: FileVersion,
    readonly names: readonly string[],
  ) {}

  static async open(path: string, version: FileVersion): Promise<ArrowFileSource> {
    const { reader, close } = await openReader(path, version);
    try {
      const names = reader.schema.fields.map((field) => field.name);
      checkNames(names);
      return new ArrowFileSource(path, version, names);
    } finally {
      await close();
    }
  }

  async *slices(options: SliceOptions): AsyncIterable<Slice> {
    const { reader, close } = await openReader(this.path, this.version);
    let first = 0;
    try {
      for await (const batch of reader) {
        const records = batch as unknown as ArrowBatch;
        assertRows(first + records.numRows, this.version.size);
        yield* batchSlices(this.names, records, first, options);
        first += records.numRows;
      }
    } finally {
      await close();
    }
  }
}

/** A reader of Arrow's IPC format; the file kind is read by position, the stream kind in order. */
async function openReader(path: string, version: FileVersion) {
  const { RecordBatchReader } = arrow();
  const file = await openRegular(path);
  try {
    demandSame(path, version, fileVersion(await file.stat()));
    const start = Buffer.alloc(6);
    await file.read(start, 0, 6, 0);
    const reader =
      start.toString('latin1') === 'ARROW1'
        ? await (await RecordBatchReader.from(file)).open()
        : await (await RecordBatchReader.from(file.createReadStream({ start: 0, autoClose: false }))).open();
    const close = async (): Promise<void> => {
      await reader.cancel();
      await file.close().catch(() => undefined);
    };
    return { reader, close };
  } catch (error) {
    await file.close().catch(() => undefined);
    if (error instanceof ServiceError) {
      throw error;
    }
    throw invalidTable(
      `The file "${path}" begins like Arrow but cannot be read: ${(error as Error).message}.`,
    );
  }
}
