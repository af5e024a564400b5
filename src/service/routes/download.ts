import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { streamOwnFile } from '../../util/files';
import { zipBytes, type ZipEntry, zipOf } from '../../util/zip';
import { fileName } from '../store/entries/file-ref';
import { MODEL_FILE, type Store } from '../store/store';
import type { Route } from './context';

/** Not of the specification: all uploads and fitted train sets in one archive. */
export const downloadAllData: Route = {
  method: 'GET',
  envelope: 'quickstart',
  async handle({ store, options }, { req, res }) {
    await store.reload();
    const pinned = [...store.uploadEntries.items.values(), ...store.models.items.values()];
    const entries = entriesOf(store);
    for (const item of pinned) {
      item.pins += 1;
    }
    try {
      res.writeHead(200, {
        'content-type': 'application/zip',
        'content-length': zipBytes(entries),
        'content-disposition': 'attachment; filename=tabular-data.zip',
        'cache-control': 'no-store',
      });
      if (req.method === 'HEAD') {
        res.end();
        return undefined;
      }
      res.socket?.setTimeout(options.times.answerIdleMs);
      await pipeline(Readable.from(zipOf(entries)), res);
    } finally {
      for (const item of pinned) {
        item.pins -= 1;
      }
    }
    return undefined;
  },
};

function entriesOf(store: Store): ZipEntry[] {
  const uploads = [...store.uploadEntries.items.values()].flatMap(({ entry, folder, data }) => {
    const place = `${entry.set}_sets/${entry.id}`;
    const parts = (['x', 'y'] as const).flatMap((part) => {
      const info = entry[part];
      if (info === undefined) {
        return [];
      }
      const name = fileName(part, info);
      return [
        data === undefined
          ? diskEntry(`${place}/${name}`, path.join(folder, name), info.arrived?.bytes ?? 0)
          : memoryEntry(`${place}/${name}`, data),
      ];
    });
    return [...parts, memoryEntry(`${place}/upload.json`, jsonBytes(entry))];
  });
  const models = [...store.models.items.values()].flatMap(({ entry, folder }) => {
    const place = `fitted_train_sets/${entry.id}`;
    return [
      diskEntry(`${place}/${MODEL_FILE}`, path.join(folder, MODEL_FILE), entry.bytes),
      memoryEntry(`${place}/model.json`, jsonBytes(entry)),
    ];
  });
  return [...uploads, ...models];
}

function diskEntry(name: string, file: string, bytes: number): ZipEntry {
  return { name, bytes, read: () => streamOwnFile(file) };
}

function memoryEntry(name: string, bytes: Uint8Array): ZipEntry {
  return { name, bytes: bytes.length, read: () => Readable.from([bytes]) };
}

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value, undefined, 2));
}
