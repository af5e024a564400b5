import { ModuleMemories, type OpenedMemory } from '../../wasm/module-memory';
import { SHARES } from '../shapley/shares';
import { type BlockKernel, blockModule } from './kernel/block-kernel';
import { SCRATCH } from './kernel/block-layout';

/** What is placed begins at a multiple of this. */
const ALIGNED = 8;

const memories = new ModuleMemories<BlockKernel>([() => blockModule(true), () => blockModule(false)]);

/** Of all rows together; what is found of a very wide table of many classes stays where it is. */
const MOST_ROW_BYTES = 32_000_000;

/** Rows at a time. */
export const ROWS_OF_ROOM = 16;

/** How many numbers there are of a row. */
export interface RowSize {
  /** mixtures × outputs, and outputs × groups. */
  scores: number;
  effects: number;
  columns: number;
}

function rowBytes({ scores, effects, columns }: RowSize): number {
  return 8 * (scores + effects + Math.ceil(columns / 8));
}

/** A memory for the blocks of one model, with the functions that read it. It never grows: views of it stay what they are. */
export class BlockRoom {
  readonly bytes: Uint8Array;
  readonly wholes: Int32Array;
  readonly floats: Float32Array;
  readonly numbers: Float64Array;
  /** Where the first row has its scores, effects and bins, and how far it is to those of the next. */
  readonly row: { scores: number; effects: number; bins: number; size: number };
  readonly functions: BlockKernel;
  /** Whether there is room for entries. */
  readonly hasEntries: boolean;
  private next = SCRATCH.size;
  private readonly end: number;

  private constructor(
    { functions, buffer }: OpenedMemory<BlockKernel>,
    size: RowSize,
    { blocks, entries }: { blocks: number; entries: number },
  ) {
    this.functions = functions;
    this.bytes = new Uint8Array(buffer);
    this.wholes = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.numbers = new Float64Array(buffer);
    SHARES.forEach((row, i) => this.numbers.set(row, SCRATCH.shares / 8 + i * row.length));
    const scores = this.next;
    const effects = scores + size.scores * 8;
    this.row = { scores, effects, bins: effects + size.effects * 8, size: rowBytes(size) };
    this.next += ROWS_OF_ROOM * this.row.size;
    this.end = this.next + Math.ceil(blocks / ALIGNED) * ALIGNED;
    this.hasEntries = entries > 0;
    this.wholes[SCRATCH.nextEntry / 4] = this.end;
    this.wholes[SCRATCH.entriesEnd / 4] = buffer.byteLength;
  }

  /**
   * Undefined where the engine has no WebAssembly, or no memory for it. Pages that nothing is written to take none.
   *
   * @param bytes for blocks, and for what is kept of them by the ways of rows
   */
  static open(size: RowSize, bytes: { blocks: number; entries: number }): BlockRoom | undefined {
    const rows = ROWS_OF_ROOM * rowBytes(size);
    const all = SCRATCH.size + rows + bytes.blocks + bytes.entries + ALIGNED;
    const opened = rows > MOST_ROW_BYTES ? undefined : memories.open(all);
    return opened && new BlockRoom(opened, size, bytes);
  }

  /** The address of so many bytes for blocks; undefined where there is no room for them. */
  place(bytes: number): number | undefined {
    const at = this.next;
    const end = at + Math.ceil(bytes / ALIGNED) * ALIGNED;
    if (end > this.end) {
      return undefined;
    }
    this.next = end;
    return at;
  }
}
