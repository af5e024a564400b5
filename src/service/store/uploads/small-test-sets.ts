import type { SetKind, UploadEntry, UploadPart } from '../entries/entries';
import type { EntryStore } from '../entries/entry-store';
import { type MemoryStore, memoryStore } from './part-store';

/** Test sets up to this size stay in memory, as long as all of them take no more than the next bound. */
const SMALL_BYTES = 64 * 1024;
const MEMORY_BYTES = 16 * 1024 * 1024;

/** The room in memory for test sets that are not worth a file. */
export class SmallTestSets {
  /** @param arriving room that was given and whose bytes are on their way */
  constructor(
    private readonly stored: EntryStore<UploadEntry>,
    private readonly arriving: () => Iterable<MemoryStore>,
  ) {}

  /**
   * Room for the file of an upload, or nothing where it belongs on disk.
   *
   * @param length bytes that its request announces, where it does
   */
  roomFor(set: SetKind, info: UploadPart, length: number | undefined): MemoryStore | undefined {
    const { announcedBytes: size = SMALL_BYTES } = info;
    const isSmall = (info.announcedBytes ?? length ?? Infinity) <= SMALL_BYTES;
    return isSmall && set === 'test' && info.chunks === 1 && this.makeRoom(size)
      ? memoryStore(size)
      : undefined;
  }

  /** Bytes of test sets that are kept in memory or on their way there. */
  get bytes(): number {
    let total = this.stored.heldBytes;
    for (const { size } of this.arriving()) {
      total += size;
    }
    return total;
  }

  /**
   * Those that have been read go first, the one unused for longest before others. What is still to be read stays, so
   * that many uploads at once don't push one another out.
   */
  private makeRoom(bytes: number): boolean {
    let used = this.bytes + bytes;
    if (used <= MEMORY_BYTES) {
      return true;
    }
    const held = [...this.stored.items.values()].filter((item) => item.data !== undefined);
    for (const item of held.sort((a, b) => a.lastUsedAt - b.lastUsedAt)) {
      if (used <= MEMORY_BYTES) {
        break;
      }
      if (!item.read || item.pins > 0) {
        continue;
      }
      used -= item.data!.length;
      void this.stored.drop(item.entry.id);
    }
    return used <= MEMORY_BYTES;
  }
}
