import type { SetKind, UploadEntry, UploadPart } from '../entries/entries';
import type { EntryStore } from '../entries/entry-store';
import { isWide } from './hashes';

/** How many of the newest test uploads are known as duplicates. */
const TEST_DUPLICATES = 256;

/** What makes an upload the same as another: the files, by format and hash, and of a test set the model. */
interface Content {
  set: SetKind;
  fittedId?: string;
  x: UploadPart;
  y?: UploadPart;
}

/**
 * Finds complete uploads by what was announced of their files.
 *
 * A CRC32C has 32 bits: among the millions of test sets of a stream two will share it one day, and whoever wants to
 * can make two that do. Answering one with the other would score the wrong rows, so it never makes a test set a
 * duplicate; a hash of 128 bits or more does. Train sets are few, and both files must agree in CRC32C and size.
 */
export class Duplicates {
  private readonly trainKeys = new Map<string, string>();
  private readonly testKeys = new Map<string, string>();

  /** Knows what is stored already. */
  constructor(private readonly stored: EntryStore<UploadEntry>) {
    const known = [...stored.items.values()].sort((a, b) => a.entry.createdAt - b.entry.createdAt);
    for (const { entry } of known) {
      this.add(entry);
    }
  }

  /** The id of an upload with the announced hashes and sizes. It counts as used: the client predicts with it next. */
  find(asked: Content): string | undefined {
    const key = keyOf(asked, announced);
    if (key === undefined) {
      return undefined;
    }
    const id = this.keysOf(asked.set).get(key);
    const found = id === undefined ? undefined : this.stored.items.get(id);
    if (found === undefined) {
      return undefined;
    }
    const { x, y } = found.entry;
    const same = isSameSize(asked.x, x) && (asked.y === undefined || isSameSize(asked.y, y));
    return same ? this.stored.useIfWhole(found.entry.id)?.entry.id : undefined;
  }

  /** A complete upload can be found from now on, by what was announced and by what arrived. */
  add(entry: UploadEntry): void {
    const keys = this.keysOf(entry.set);
    for (const hashOf of [announced, arrived]) {
      const key = keyOf(entry, hashOf);
      if (key !== undefined) {
        keys.delete(key);
        keys.set(key, entry.id);
      }
    }
    for (const [key, id] of keys) {
      const surplus = entry.set === 'test' && keys.size > TEST_DUPLICATES;
      if (!surplus && this.stored.items.has(id)) {
        break;
      }
      keys.delete(key);
    }
  }

  private keysOf(set: SetKind): Map<string, string> {
    return set === 'train' ? this.trainKeys : this.testKeys;
  }
}

const announced = (part: UploadPart): string | undefined => part.announcedHash;
const arrived = (part: UploadPart): string | undefined => part.arrived?.crc;

/** Undefined where the hashes are missing, or too short to tell a duplicate. */
function keyOf(
  { set, fittedId, x, y }: Content,
  hashOf: (part: UploadPart) => string | undefined,
): string | undefined {
  const parts = y === undefined ? [x] : [x, y];
  const hashes = parts.map(hashOf);
  const tells = (hash: string | undefined): boolean =>
    hash !== undefined && (set === 'train' || isWide(hash));
  if (!hashes.every(tells)) {
    return undefined;
  }
  return JSON.stringify([fittedId ?? null, ...parts.map((part, i) => [part.format, hashes[i]])]);
}

/** A wide hash says enough without a size. */
function isSameSize(asked: UploadPart, known: UploadPart | undefined): boolean {
  return asked.announcedBytes === undefined
    ? isWide(asked.announcedHash ?? '')
    : asked.announcedBytes === known?.arrived?.bytes;
}
