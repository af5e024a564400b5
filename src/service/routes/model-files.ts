import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { READ_FORMATS } from '../../learner/storage/formats';
import { crc32c, crc32cToBase64 } from '../../table/storage/crc32c';
import { isOwnId, readOwnFile, writeFileAtomic } from '../../util/files';
import { isDeeper, tryParseJson } from '../../util/values';
import { readBody } from '../http/body';
import { damagedModel, invalid, Refusal } from '../refusal';
import { isModelEntry, type ModelEntry, readFailure } from '../store/entries';
import { MODEL_FILE, type Store } from '../store/store';
import type { CheckJob } from '../work/jobs';
import { readPatience } from '../work/pool-thread';
import { missingModel, type Route, type ServiceContext } from './context';

/** A model is held in memory on its way in and out. */
const MAX_MODEL_BYTES = 256 * 1024 * 1024;
/** The entry has a line per feature. */
const MAX_ENTRY_BYTES = 16 * 1024 * 1024;
/** Of objects and arrays in an entry. */
const MAX_LEVELS = 64;
const LINE_END = 10;

/**
 * Not of the specification: a fitted train set as bytes that `importModelRoute` takes, here or in another service: a line of
 * JSON, its entry, and the model.
 */
export const exportModelRoute: Route = {
  method: 'GET',
  envelope: 'quickstart',
  async handle({ store }, { url, res }) {
    const id = (url.searchParams.get('fitted_train_set_id') ?? '').toLowerCase();
    const item = store.models.use(id);
    if (item === undefined) {
      throw missingModel(store, id);
    }
    if (item.bytes > MAX_MODEL_BYTES) {
      throw tooLarge();
    }
    item.pins += 1;
    try {
      const file = path.join(item.folder, MODEL_FILE);
      const model = await readOwnFile(file).catch(async (error: unknown) => {
        store.models.restore();
        throw store.models.isLost(id)
          ? missingModel(store, id)
          : await readFailure('fitted train set', { file }, error, damagedModel);
      });
      if (!isWhole(item.entry, model)) {
        throw damagedModel('its checksum is wrong');
      }
      const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(item.entry)}\n`), model]);
      res.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': bytes.length,
        'cache-control': 'no-store',
      });
      res.end(bytes);
    } finally {
      item.pins -= 1;
    }
    return undefined;
  },
};

/**
 * Not of the specification: takes a fitted train set that `exportModelRoute` gave. It keeps its id, unless another model has
 * it here; one that is here already is not written again.
 */
export const importModelRoute: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rawBody: true,
  async handle(context, { req }) {
    const body = await readBody(req, MAX_MODEL_BYTES + MAX_ENTRY_BYTES, context.options.times.upload);
    const { entry, model } = modelIn(context, body);
    const known = context.store.models.useIfWhole(entry.id)?.entry;
    const isHere = known?.crc === entry.crc && known.bytes === entry.bytes;
    const id = isHere ? entry.id : await keep(context, entry, model);
    return { status: 200, body: { fitted_train_set_id: id } };
  },
};

/** @throws Refusal 422 for bytes that are no model, or one that this version of the package cannot use */
function modelIn({ limits }: ServiceContext, body: Buffer): { entry: ModelEntry; model: Buffer } {
  const end = body.subarray(0, MAX_ENTRY_BYTES).indexOf(LINE_END);
  const entry = end < 0 ? undefined : tryParseJson(body.toString('utf8', 0, end));
  const { id, format } = (entry ?? {}) as Partial<ModelEntry>;
  if (!isOwnId(id)) {
    throw invalid('These bytes are not a fitted train set.');
  }
  if (!READ_FORMATS.includes(format)) {
    throw invalid(
      `The model is of format ${String(format).slice(0, 20)}, and this version of the package reads ${READ_FORMATS.join(', ')}: fit it again, or use the version that wrote it.`,
    );
  }
  const model = body.subarray(end + 1);
  if (!isModelEntry(entry, id) || isDeeper(entry, MAX_LEVELS) || !isWhole(entry, model)) {
    throw invalid('The fitted train set is damaged: its length or checksum is wrong.');
  }
  if (entry.features.length > limits.max_cols) {
    throw invalid(
      `The model is of ${entry.features.length} columns; this service takes at most ${limits.max_cols}.`,
    );
  }
  return { entry, model };
}

function isWhole({ bytes, crc }: ModelEntry, model: Buffer): boolean {
  return model.length === bytes && crc32cToBase64(crc32c(model)) === crc;
}

/** @throws Refusal 422 for a model that cannot be used: nothing is kept of it */
async function keep(
  { store, predictPool }: ServiceContext,
  entry: ModelEntry,
  model: Buffer,
): Promise<string> {
  const { models } = store;
  const taken = await takenIds(store);
  const { id, folder } = makeFolder(models, taken.has(entry.id) ? randomUUID() : entry.id);
  try {
    const file = path.join(folder, MODEL_FILE);
    await writeFileAtomic(file, model, true);
    const { task, classes, features } = entry;
    const job: CheckJob = { kind: 'check', file, entry: { task, classes, features } };
    await predictPool.run(job, { patienceMs: readPatience(model.length) });
    await models.put({ ...entry, id }, folder, true);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  await store.trim();
  return id;
}

/** What has an id of its own: whoever deletes an id deletes all that has it, and what was made of it. */
async function takenIds({ models, uploadEntries, uploads, fitRecords }: Store): Promise<Set<string>> {
  return new Set([
    ...(await models.ids()),
    ...(await uploadEntries.ids()),
    ...uploads.waiting().map(({ id }) => id),
    ...fitRecords.all().map(({ id }) => id),
  ]);
}

/** Another import of the same model may have taken the id by now. */
function makeFolder(models: Store['models'], id: string): { id: string; folder: string } {
  try {
    return { id, folder: models.makeFolder(id) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
    const another = randomUUID();
    return { id: another, folder: models.makeFolder(another) };
  }
}

function tooLarge(): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'PAYLOAD_TOO_LARGE',
    message: `The fitted train set is larger than ${MAX_MODEL_BYTES} bytes, the most that is handed out in one piece.`,
  });
}
