import { SliceSizer } from '../../util/concurrency';
import { emptyTable } from '../cells/types';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import { type Bytes, BytesBlob } from '../storage/blob';
import { TYPE } from './columns';
import { assertCompressed, registerCodecs } from './compression';
import { arrow } from './heavy-modules';
import {
  damagedIpc,
  type FlatTable,
  type IpcEnd,
  type IpcMessage,
  ipcMessages,
  longAt,
  RECORD_BATCH,
} from './ipc-messages';
import { type ArrowBatch, ArrowSource, assertRows, batchSlices } from './source';

/** A length of nodes: rows and missing values, 64 bits each. */
const NODE_BYTES = 16;
const SCHEMA_ENDIANNESS = 0;
const LITTLE_ENDIAN = 0;
const CONTINUATION = [0xff, 0xff, 0xff, 0xff];

/** A column as the library has it. */
interface IpcField {
  name: string;
  type: { typeId: number; children?: readonly IpcField[] | null };
}

/** What an open table in Arrow's IPC format gives. */
interface IpcReader {
  readonly fields: readonly IpcField[];
  /** The record batches, once; `part` of the bytes has been read with each, 0 to 1. */
  batches(): AsyncGenerator<{ batch: ArrowBatch; part: number }>;
  /** How it ended, once its batches have been read. */
  readonly end: Readonly<IpcEnd>;
}

/**
 * Opens a table in Arrow's IPC format, the file or the stream kind. The library is given one checked message after the
 * other, so that it always comes to an end, and every record batch has to have the rows that it tells of.
 * Errors: `table.invalid`, `file.unreadable`.
 */
async function openIpc(bytes: Bytes): Promise<IpcReader> {
  try {
    return await opened(bytes);
  } catch (error) {
    throw damagedIpc(error);
  }
}

async function opened(bytes: Bytes): Promise<IpcReader> {
  const end: IpcEnd = {};
  let schema: FlatTable | undefined;
  // The library may read on before it hands out a record batch.
  const due: Pick<IpcMessage, 'name' | 'header'>[] = [];
  let read = 0;
  async function* fed(): AsyncGenerator<Uint8Array> {
    for await (const message of ipcMessages(bytes, end)) {
      const { kind, name, header, metadata, body } = message;
      schema ??= header;
      assertCompressed(message);
      if (kind === 'batch') {
        due.push({ name, header });
      }
      read += metadata.length + body.length;
      const head = Buffer.from([...CONTINUATION, 0, 0, 0, 0]);
      head.writeInt32LE(metadata.length, 4);
      yield head;
      yield metadata;
      yield body;
    }
  }
  registerCodecs();
  const reader = await (await arrow().RecordBatchReader.from(fed())).open();
  if (schema === undefined || reader.schema === undefined) {
    throw new Error('it has no schema');
  }
  if (schema.short(SCHEMA_ENDIANNESS) !== LITTLE_ENDIAN) {
    throw new Error('its numbers are big-endian; write it on, or for, a little-endian computer');
  }
  // The format lets a name be absent.
  const named = reader.schema.fields as readonly { name: string | null; type: IpcField['type'] }[];
  const fields = named.map(({ name, type }) => ({ name: name ?? '', type }));

  async function* batches(): AsyncGenerator<{ batch: ArrowBatch; part: number }> {
    try {
      for await (const batch of reader) {
        const told = due.shift();
        // Without any record batch the library makes up one, which has no rows.
        if (told !== undefined) {
          assertRowCount(told, fields);
          yield { batch: batch as unknown as ArrowBatch, part: Math.min(1, read / bytes.size) };
        }
      }
      if (due[0] !== undefined) {
        throw new Error(`${due[0].name} is not among what was read`);
      }
    } catch (error) {
      throw damagedIpc(error);
    }
  }
  return { fields, batches, end };
}

/** A warning where nothing tells that all rows of a stream are there. Errors: `table.empty` where none are. */
function unmarkedWarning({ end }: IpcReader, rows: number): string[] {
  if (end.unmarked === true && rows === 0) {
    throw emptyTable(
      'The Arrow stream ends behind its columns, without rows and without its end mark: it was cut off.',
    );
  }
  return end.unmarked === true
    ? [
        `The Arrow stream has no end mark. Its ${rows} rows are all of it, unless it was cut off between two record batches; close the writer to have the mark written.`,
      ]
    : [];
}

/** Each column of a record batch tells of its rows too: a shorter one would be filled up with missing values. */
function assertRowCount(
  { header, name }: Pick<IpcMessage, 'name' | 'header'>,
  fields: readonly IpcField[],
): void {
  const rows = header.long(RECORD_BATCH.length);
  const nodes = header.list(RECORD_BATCH.nodes, NODE_BYTES);
  let index = 0;
  for (const field of fields) {
    const told = index < nodes.length ? rowsAt(header, nodes.at, index) : 'no';
    if (told !== rows) {
      throw new Error(`${name} has ${rows} rows, but ${told} in column "${field.name}"`);
    }
    index += countNodes(field);
  }
  if (index !== nodes.length) {
    throw new Error(`${name} has ${nodes.length} columns, parts of columns counted, instead of ${index}`);
  }
}

function rowsAt({ bytes }: FlatTable, at: number, index: number): number {
  return longAt(bytes, at + index * NODE_BYTES);
}

/** The parts of what a dictionary holds are in the dictionary. */
function countNodes({ type }: IpcField): number {
  const parts = type.typeId === TYPE.dictionary ? [] : (type.children ?? []);
  return parts.reduce((sum, child) => sum + countNodes(child), 1);
}

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
