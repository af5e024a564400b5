import type { SetKind, UploadEntry, UploadPart } from './entries';
import type { Shelf } from './shelf';

/**
 * How many of the newest test uploads are known as duplicates. A CRC32C has 32 bits: among the millions of
 * test sets of a stream two different ones will share it one day, and answering the second with the first
 * would score the wrong rows; among a few hundred that chance stays negligible.
 */
const TEST_DUPLICATES = 256;

/** What makes an upload the same as another: the files, by format and hash, and of a test set the model. */
interface Content {
  set: SetKind;
  fittedId?: string;
  x: UploadPart;
  y?: UploadPart;
}

/** Finds complete uploads by what they hold. */
export class Duplicates {
  private readonly trainKeys = new Map<string, string>();
  private readonly testKeys = new Map<string, string>();

  /** Knows what is on the shelf already. */
  constructor(private readonly shelf: Shelf<UploadEntry>) {
    const known = [...shelf.items.values()].sort((a, b) => a.entry.createdAt - b.entry.createdAt);
    for (const { entry } of known) {
      this.add(entry);
    }
  }

  /** The id of an upload with the announced hashes and sizes, which counts as used: who is told it reads it next. */
  find(asked: Content): string | undefined {
    const key = keyOf(asked, announced);
    if (key === undefined) {
      return undefined;
    }
    const id = this.keysOf(asked.set).get(key);
    const found = id === undefined ? undefined : this.shelf.items.get(id);
    if (found === undefined) {
      return undefined;
    }
    const { x, y } = found.entry;
    const same = sameSize(asked.x, x) && (asked.y === undefined || sameSize(asked.y, y));
    return same ? this.shelf.use(found.entry.id)?.entry.id : undefined;
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
      if (!surplus && this.shelf.items.has(id)) {
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

function keyOf(
  set: Pick<Content, 'fittedId' | 'x' | 'y'>,
  hashOf: (part: UploadPart) => string | undefined,
): string | undefined {
  const parts = set.y === undefined ? [set.x] : [set.x, set.y];
  const hashes = parts.map(hashOf);
  if (hashes.includes(undefined)) {
    return undefined;
  }
  return JSON.stringify([set.fittedId ?? null, ...parts.map((part, i) => [part.format, hashes[i]])]);
}

function sameSize(asked: UploadPart, known: UploadPart | undefined): boolean {
  return asked.announcedBytes === undefined || asked.announcedBytes === known?.arrived?.bytes;
}
