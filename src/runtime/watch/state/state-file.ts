import { rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';

import { Yielder } from '../../../util/concurrency';
import { makeFolder, NewerFile, readOwnFile, writeFileAtomic } from '../../../util/files';
import { KeptLock } from '../../../util/folder-lock';
import { isObject, tryParseJson } from '../../../util/values';
import type { WatchState } from '../../../watch';
import { watchLayer } from '../../lazy';

/** Folders that are made when they are gone: that of all watch nodes, and that of the package. */
const LEVELS = 2;
/** Of a state, in its first line. */
const VERSION = 1;

/** What a watch node keeps of the predictions of one model. */
export interface KeptWatch {
  model: string;
  state: WatchState;
}

/** Before the lines of each watch stands what they are of, and how many they are. */
interface Heading {
  model: string;
  lines: number;
  /** CRC32 of the lines: one changed number would go on in every prediction. Left out by earlier versions. */
  crc?: number;
}

/** The file of one watch node: lines of JSON, so that a large state is written and read without holding the event loop. */
export class StateFile {
  private lock: KeptLock | undefined;

  constructor(private readonly file: string) {}

  /**
   * What was written last; nothing where there is no file.
   * @throws FolderInUse where it is another process's; NewerFile; Error where it cannot be read
   */
  async read(): Promise<KeptWatch[]> {
    const folder = path.dirname(this.file);
    await makeFolder(folder, LEVELS).catch(() => undefined);
    this.lock ??= await KeptLock.take(folder, `${path.basename(this.file)}.lock`);
    const yielder = new Yielder();
    // An earlier version left an empty line of a node without predictions.
    const texts = (await this.text()).replace(/^\n$/, '').split('\n');
    const lines: unknown[] = [];
    for (const line of texts) {
      lines.push(tryParseJson(line));
      await yielder.due();
    }
    const kept: KeptWatch[] = [];
    // After the last line stands an end of line.
    for (let at = 0; at < lines.length - 1;) {
      const heading = lines[at];
      assertKnown(heading);
      assertKnown(lines[at + 1]);
      const isWhole =
        isHeading(heading) &&
        (heading.crc === undefined ||
          heading.crc === (await checksum(texts.slice(at + 1, at + 1 + heading.lines))));
      const state = isWhole
        ? watchLayer().stateOfLines(lines.slice(at + 1, at + 1 + heading.lines))
        : undefined;
      if (!isHeading(heading) || state === undefined) {
        throw new Error(`line ${at + 1} of ${this.file} is not what a watch node writes`);
      }
      kept.push({ model: heading.model, state });
      at += 1 + heading.lines;
    }
    return kept;
  }

  /** In one step: a crash leaves what was written before. @throws Error where it cannot be written */
  async write(watches: readonly KeptWatch[]): Promise<void> {
    const yielder = new Yielder();
    const text: string[] = [];
    for (const { model, state } of watches) {
      const lines: string[] = [];
      for (const line of watchLayer().stateLines(state)) {
        lines.push(line);
        await yielder.due();
      }
      const heading: Heading = { model, lines: lines.length, crc: await checksum(lines) };
      text.push(JSON.stringify(heading), ...lines);
    }
    await makeFolder(path.dirname(this.file), LEVELS);
    await this.lock?.assertOurs();
    await writeFileAtomic(this.file, text.map((line) => `${line}\n`).join(''), true);
  }

  /** Never fails: a file that stays does no harm. */
  async remove(): Promise<void> {
    await rm(this.file, { force: true }).catch(() => undefined);
  }

  /** Lets another process have the file. */
  async close(): Promise<void> {
    await this.lock?.release();
  }

  private async text(): Promise<string> {
    try {
      return (await readOwnFile(this.file)).toString('utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return '';
      }
      throw error;
    }
  }
}

/** @throws NewerFile where a newer version of this package wrote the line */
function assertKnown(line: unknown): void {
  const version = isObject(line) ? (line.v ?? line.version) : undefined;
  if (typeof version === 'number' && version > VERSION) {
    throw new NewerFile(version, VERSION);
  }
}

async function checksum(lines: readonly string[]): Promise<number> {
  const yielder = new Yielder();
  let crc = 0;
  for (const line of lines) {
    crc = crc32(line, crc);
    await yielder.due();
  }
  return crc;
}

function isHeading(value: unknown): value is Heading {
  return isObject(value) && typeof value.model === 'string' && Number.isInteger(value.lines);
}
