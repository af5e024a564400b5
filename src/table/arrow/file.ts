import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import type { Bytes } from '../storage/blob';
import { openIpc, unmarkedWarning } from './ipc';
import { damagedIpc } from './ipc-messages';
import { assertRows, batchSlices } from './source';

/** An Arrow file on disk, read batch by batch: the IPC file kind, or the stream kind. */
export class ArrowFileSource implements SliceSource {
  readonly form: TableForm = 'file';
  private unmarked: string[] = [];

  private constructor(
    private readonly bytes: Bytes,
    readonly names: readonly string[],
  ) {}

  /** Errors: `table.invalid`, `table.empty`, `file.unreadable`. */
  static async open(bytes: Bytes): Promise<ArrowFileSource> {
    const { fields } = await openIpc(bytes);
    const names = fields.map(({ name }) => name);
    checkNames(names);
    return new ArrowFileSource(bytes, names);
  }

  get warnings(): readonly string[] {
    return this.unmarked;
  }

  async *slices(options: SliceOptions): AsyncIterable<Slice> {
    const reader = await openIpc(this.bytes);
    let first = 0;
    for await (const { batch, part } of reader.batches()) {
      assertRows(first + batch.numRows, this.bytes.size);
      for (const slice of batchSlices(this.names, batch, first, options)) {
        yield {
          ...slice,
          part,
          column: (index) => {
            try {
              return slice.column(index);
            } catch (error) {
              throw damagedIpc(error);
            }
          },
        };
      }
      first += batch.numRows;
    }
    this.unmarked = unmarkedWarning(reader, first);
  }
}
