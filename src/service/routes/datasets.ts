import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { streamOwnFile } from '../../util/files';
import { writeZip, zipBytes, type ZipEntry } from '../../util/zip';
import { notFound, Refusal } from '../refusal';
import { fileName, type ModelEntry, type UploadEntry } from '../store/entries';
import type { StoredEntry } from '../store/entry-store';
import { MODEL_FILE, type Store } from '../store/store';
import type { Route, ServiceContext } from './context';

/*
 * Routes that the specification does not have: what the service keeps, and how to have it removed. A data set is an
 * upload; what was made of it goes with it.
 */

/** Every upload and every fitted train set that is stored. */
export const getDataSummary: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle({ store }) {
    const models = [...store.models.items.values()];
    const uploads = [...store.uploadEntries.items.values()];
    const ofSet = (set: UploadEntry['set']) => uploads.filter(({ entry }) => entry.set === set);
    return {
      status: 200,
      body: {
        train_sets: ofSet('train').map((item) => ({
          ...summarize(item),
          fitted_train_set_ids: models.flatMap(({ entry }) =>
            entry.trainSetUploadId === item.entry.id ? [entry.id] : [],
          ),
        })),
        test_sets: ofSet('test').map((item) => ({
          ...summarize(item),
          fitted_train_set_id: item.entry.fittedId,
        })),
        fitted_train_sets: models.map(({ entry, bytes }) => ({
          fitted_train_set_id: entry.id,
          train_set_upload_id: entry.trainSetUploadId,
          task: entry.task,
          target: entry.targetName,
          rows: entry.rows,
          columns: entry.features.map(({ name }) => name),
          bytes,
          created_at: new Date(entry.createdAt).toISOString(),
        })),
        stored_bytes: store.bytes(),
        memory_bytes: store.uploads.memoryBytes(),
      },
    };
  },
};

/** Removes the upload (or the fitted train set) of `dataset_uid`, and all that was made of it. */
export const deleteDataset: Route = {
  method: 'DELETE',
  envelope: 'quickstart',
  async handle(context, { url }) {
    const id = (url.searchParams.get('dataset_uid') ?? '').toLowerCase();
    const removed = await remove(context, await withOffspring(context, [id]));
    if (removed.deleted_dataset_uids.length + removed.deleted_fitted_train_set_ids.length === 0) {
      throw notFound(
        'There is no data set of this dataset_uid: give the id of an upload or of a fitted train set.',
      );
    }
    return { status: 200, body: removed };
  },
};

/** Removes all uploads and fitted train sets. */
export const deleteAllDatasets: Route = {
  method: 'DELETE',
  envelope: 'quickstart',
  async handle(context) {
    const { uploads, uploadEntries, models, fitRecords } = context.store;
    for (const { id, failure } of fitRecords.all()) {
      if (failure !== undefined) {
        await fitRecords.remove(id);
      }
    }
    const waiting = uploads.waiting().map(({ id }) => id);
    const ids = [...(await uploadEntries.ids()), ...waiting, ...(await models.ids())];
    return { status: 200, body: await remove(context, await withOffspring(context, ids)) };
  },
};

interface Removed {
  deleted_dataset_uids: string[];
  deleted_fitted_train_set_ids: string[];
}

function summarize({ entry, bytes, data }: StoredEntry<UploadEntry>) {
  const { id, createdAt, description, x, y } = entry;
  return {
    dataset_uid: id,
    description,
    format: x.format,
    bytes: data?.length ?? bytes,
    target_bytes: y?.arrived?.bytes,
    created_at: new Date(createdAt).toISOString(),
  };
}

interface Doomed {
  uploads: string[];
  models: string[];
}

/** What of these ids is there, the models fitted on the uploads, and the test sets prepared for the models. */
async function withOffspring({ store }: ServiceContext, ids: string[]): Promise<Doomed> {
  const asked = new Set(ids);
  const entries: UploadEntry[] = [
    ...[...store.uploadEntries.items.values()].map(({ entry }) => entry),
    ...store.uploads.waiting(),
  ];
  const fitted: ModelEntry[] = [...store.models.items.values()].map(({ entry }) => entry);
  const models = new Set((await store.models.ids()).filter((id) => asked.has(id)));
  for (const { id, trainSetUploadId } of fitted) {
    if (asked.has(trainSetUploadId)) {
      models.add(id);
    }
  }
  const uploads = new Set((await store.uploadEntries.ids()).filter((id) => asked.has(id)));
  for (const { id, fittedId } of entries) {
    if (asked.has(id) || (fittedId !== undefined && models.has(fittedId))) {
      uploads.add(id);
    }
  }
  return { uploads: [...uploads], models: [...models] };
}

async function remove(context: ServiceContext, { uploads, models }: Doomed): Promise<Removed> {
  const { store, fits, predictPool } = context;
  for (const id of uploads) {
    const failed = store.fitRecords.of(id).filter(({ failure }) => failure !== undefined);
    await fits.stop(id, deletedMeanwhile(id));
    for (const record of failed) {
      await store.fitRecords.remove(record.id);
    }
  }
  for (const id of uploads) {
    await store.uploads.erase(id);
  }
  for (const id of models) {
    await store.models.erase(id);
  }
  predictPool.forget(models);
  return { deleted_dataset_uids: uploads, deleted_fitted_train_set_ids: models };
}

function deletedMeanwhile(id: string): Refusal {
  return new Refusal({
    status: 404,
    errorCode: 'DATASET_DELETED',
    message: `The train set upload ${id} was deleted while it was fitted: upload it again.`,
    retryable: false,
  });
}

/** Not of the specification: all uploads and fitted train sets in one archive. */
export const downloadAllData: Route = {
  method: 'GET',
  envelope: 'quickstart',
  async handle({ store, options }, { req, res }) {
    await store.reload();
    const pinned = [...store.uploadEntries.items.values(), ...store.models.items.values()];
    const entries = listEntries(store);
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
      await pipeline(Readable.from(writeZip(entries)), res);
    } finally {
      for (const item of pinned) {
        item.pins -= 1;
      }
    }
    return undefined;
  },
};

function listEntries(store: Store): ZipEntry[] {
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
