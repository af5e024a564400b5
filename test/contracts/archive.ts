import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** The files of a folder as one, compressed. */
export function packFolder(folder: string): Buffer {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(path.join(folder, name)).isFile())
    .sort();
  const contents = files.map((name) => fs.readFileSync(path.join(folder, name)));
  const index = files.map((name, i) => [name.split(path.sep).join('/'), contents[i]!.length]);
  return brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...contents]));
}

/** Puts the files of an archive into a folder. */
export function unpackFolder(archive: Buffer, folder: string): void {
  const bytes = brotliDecompressSync(archive);
  let at = bytes.indexOf('\n');
  const index = JSON.parse(bytes.toString('utf8', 0, at)) as [string, number][];
  at += 1;
  for (const [name, size] of index) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes.subarray(at, at + size));
    at += size;
  }
}
