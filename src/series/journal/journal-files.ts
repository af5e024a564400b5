import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { Yielder } from '../../util/concurrency';
import { writeAll } from '../../util/files';
import type { Replay } from './records';

/*
 * The files in a series' folder: one numbered journal, and whatever a crash may have left next to it.
 */
const CHUNK = 256 * 1024;
const NAME = /^(\d{8})\.jsonl$/;

/** The number in the name of a journal. */
export function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1]);
}

/** Names of the journals, the newest last. */
export async function journalsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

/** Opens a journal to read and append to; where it cannot be written, to read only. */
export async function openJournal(name: string): Promise<{ file: FileHandle; refused?: unknown }> {
  try {
    return { file: await open(name, 'r+') };
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
    return { file: await open(name, 'r'), refused: error };
  }
}

/** Writes lines from a position on, in turns of the event loop. @returns bytes written */
export async function writeLines(file: FileHandle, lines: Iterable<string>, position = 0): Promise<number> {
  const yielder = new Yielder();
  let size = 0;
  let chunk: string[] = [];
  let length = 0;
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.map((line) => `${line}\n`).join(''));
    await writeAll(file, bytes, position + size);
    size += bytes.length;
    chunk = [];
    length = 0;
  };
  for (const line of lines) {
    chunk.push(line);
    length += line.length;
    if (length >= CHUNK) {
      await write();
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  await write();
  return size;
}

/** @returns bytes of the complete lines */
export async function readLines(
  file: FileHandle,
  replay: Replay,
  told: (replay: Replay) => void,
): Promise<number> {
  const yielder = new Yielder();
  const buffer = Buffer.alloc(CHUNK);
  let rest = Buffer.alloc(0);
  let whole = 0;
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) {
      break;
    }
    position += bytesRead;
    let bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      replay.line(bytes.toString('utf8', 0, end));
      bytes = bytes.subarray(end + 1);
      whole += end + 1;
      await yielder.due();
    }
    rest = Buffer.from(bytes);
  }
  await replay.end();
  told(replay);
  return whole;
}

/** Removes journals that a newer one has replaced, and temporary files left by a crash. */
export async function removeOthers(folder: string, keep: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== keep && (NAME.test(name) || name.endsWith('.jsonl.tmp'))) {
      await rm(path.join(folder, name), { force: true });
    }
  }
}
