import type { ColumnType } from '../../table/cells/types';
import { isObject } from '../../util/values';
import { toWireMetadata } from '../../wire/dialect';
import {
  bringsRows,
  parseLegacyPredict,
  parsePredict,
  parseRowsPredict,
  type SentRows,
} from '../../wire/parse-requests';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES } from '../../wire/vocabulary';
import { readBytes, readForm } from '../http/body';
import { answerLate } from '../http/reply';
import { invalid } from '../refusal';
import type { SenderPatience } from '../slow-body';
import { type FileRef, fileRef, type ModelEntry } from '../store/entries';
import { accept, type Route, type RouteAnswer, type RouteRequest, type ServiceContext } from './context';
import { abortedWith, applyConfig, joinJson, makeMetadata, modelFor, score } from './score';

/**
 * S 4.4. Columns are found by name: their order is free, extra ones are ignored and listed in
 * `metadata.ignored_columns`, a missing one is 422.
 */
export const predictRoute: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  withConfig: true,
  takesRows: true,
  async handle(context, request) {
    if (bringsRows(request.body)) {
      return answerRows(context, request);
    }
    const { body, apiName, res } = request;
    const { value: asked, ignored } = accept(parsePredict(body, { apiName }));
    const { uploads } = context.store;
    const model = modelFor(context, asked.fitted_train_set_id, asked.task);
    const upload = uploads.get(asked.test_set_upload_id.toLowerCase(), 'test');
    if (upload.entry.fittedId !== model.id) {
      throw invalid(
        `The test set upload ${upload.entry.id} was prepared for the fitted train set ` +
          `${upload.entry.fittedId ?? ''}, not for ${model.id}.`,
      );
    }
    const applied = applyConfig(model, asked.svc_config, ignored);
    const outcome = await uploads.reading(upload, () =>
      score(context, model, {
        x: fileRef(upload, 'x'),
        outputType: asked.output_type ?? DEFAULT_OUTPUT_TYPE[asked.task],
        quantiles: asked.quantiles ?? DEFAULT_QUANTILES,
        options: applied.options,
        explain: applied.explain,
        signal: abortedWith(res),
      }),
    );
    const metadata = toWireMetadata(makeMetadata(model, applied, outcome), { apiName });
    return { status: 200, body: joinJson(outcome.json, metadata) };
  },
};

/**
 * Not of the specification: train rows and test rows in one request, predictions in its answer. The model is kept, and
 * its `model_id` answered, only where `fit_mode` is `fit_with_cache`; nothing else is kept. With
 * `context: {model_id}` in place of the train rows such a model is used again.
 */
export const predictRows: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  withRows: true,
  takesRows: true,
  handle: answerRows,
};

/** The handler of `predictRows`; `predictRoute` passes requests that bring rows to it too. */
async function answerRows(context: ServiceContext, request: RouteRequest): Promise<RouteAnswer> {
  const { options, log } = context;
  const apiName = request.apiName === '' ? configName(request.body) : request.apiName;
  const { value, ignored } = accept(parseRowsPredict(request.body, { apiName }));
  const answer = predicted(context, request, value, { apiName, ignored });
  await answerLate(request.res, answer, { keepaliveMs: options.keepaliveMs, route: 'quickstart', log });
  return undefined;
}

async function predicted(
  context: ServiceContext,
  { res }: RouteRequest,
  sent: SentRows,
  { apiName, ignored }: { apiName: string; ignored: string[] },
): Promise<Uint8Array> {
  const signal = abortedWith(res);
  const x = rowsFile(sent.x_test, 'X_test');
  const isKept = sent.svc_config?.fit_mode === 'fit_with_cache';
  const model =
    sent.train === undefined
      ? modelFor(context, sent.model_id, sent.task)
      : await findModel(context, sent, sent.train, signal);
  try {
    const applied = applyConfig(model, sent.svc_config, ignored);
    const outcome = await score(context, model, {
      x,
      outputType: sent.output_type ?? DEFAULT_OUTPUT_TYPE[sent.task],
      quantiles: sent.quantiles ?? DEFAULT_QUANTILES,
      options: applied.options,
      explain: applied.explain,
      signal,
    });
    const metadata = toWireMetadata(makeMetadata(model, applied, outcome), { apiName });
    return joinJson(outcome.json, metadata, isKept ? { model_id: model.id } : {});
  } finally {
    if (sent.train !== undefined && !isKept) {
      await context.store.models.drop(model.id);
    }
  }
}

function findModel(
  { fits }: ServiceContext,
  { task, svc_config }: SentRows,
  train: NonNullable<SentRows['train']>,
  gone: AbortSignal,
): Promise<ModelEntry> {
  const x = rowsFile(train.x, 'X_train');
  const y = targetFile(train.y, 'y_train');
  return fits.fitRows({ task, svc_config }, { x, y, bytes: x.data.length }, gone);
}

/** In a path without an API name, the configuration has it: `{name}_config`. */
function configName(body: unknown): string {
  const task = isObject(body) ? body.task_config : undefined;
  const name = isObject(task) ? Object.keys(task).find((one) => one.endsWith('_config')) : undefined;
  return name?.slice(0, -'_config'.length) ?? 'svc';
}

/** A bigint is a whole number beyond 2^53. */
type Cell = string | number | boolean | bigint | null | undefined;

type RowsFile = FileRef & { data: Uint8Array };

/**
 * Rows of a request as a file in memory. Those of a form are a Parquet file: the only element, which needs nothing more. In
 * a JSON body a row is an array, whose columns are then named `0`, `1`, …, or an object; a column with any text is text, as
 * JSON says it, whatever the text looks like.
 *
 * @param name of the property, for messages
 * @throws Refusal 422 that names the row
 */
function rowsFile(rows: unknown[], name: string): RowsFile {
  const [sent] = rows;
  if (sent instanceof Uint8Array) {
    return { format: 'parquet', data: sent };
  }
  const columns = rows.some(Array.isArray) ? columnsOfArrays(rows, name) : columnsOfObjects(rows, name);
  return csvFile(columns, rows.length);
}

/** A list of labels or numbers, or of arrays with one each, as a file of one column. @throws Refusal 422 */
function targetFile(values: unknown[], name: string): RowsFile {
  if (values[0] instanceof Uint8Array) {
    return rowsFile(values, name);
  }
  const cells = values.map((value, row) => {
    const inner = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
    return readCell(inner, `${name}[${row}]`);
  });
  return csvFile(new Map([['target', cells]]), cells.length);
}

type Columns = Map<string, Cell[]>;

function columnsOfArrays(rows: unknown[], name: string): Columns {
  const width = (rows[0] as unknown[]).length;
  const columns = Array.from({ length: width }, (): Cell[] => new Array<Cell>(rows.length));
  rows.forEach((row, at) => {
    if (!Array.isArray(row) || row.length !== width || width === 0) {
      throw invalid(`${name}[${at}] must be an array of ${Math.max(1, width)} cells, as the first row is.`);
    }
    row.forEach((cell, column) => (columns[column]![at] = readCell(cell, `${name}[${at}][${column}]`)));
  });
  return new Map(columns.map((cells, at) => [String(at), cells]));
}

function columnsOfObjects(rows: unknown[], name: string): Columns {
  const columns: Columns = new Map();
  rows.forEach((row, at) => {
    if (!isObject(row)) {
      throw invalid(`${name}[${at}] must be an array of cells, or an object.`);
    }
    for (const [column, cell] of Object.entries(row)) {
      let cells = columns.get(column);
      if (cells === undefined) {
        columns.set(column, (cells = new Array<Cell>(rows.length)));
      }
      cells[at] = readCell(cell, `${name}[${at}].${column}`);
    }
  });
  if (columns.size === 0) {
    throw invalid(`${name} has no columns.`);
  }
  return columns;
}

function readCell(cell: unknown, path: string): Cell {
  if (cell === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof cell)) {
    return cell as Cell;
  }
  throw invalid(`${path} must be a number, text, true, false or null.`);
}

function csvFile(columns: Columns, rows: number): RowsFile {
  const types = Object.fromEntries([...columns].map(([name, cells]) => [name, findType(cells)]));
  const texts = [...columns].map(([name, cells]) => ({ cells, isText: types[name] === 'text' }));
  const lines = [[...columns.keys()].map(quoted).join(',')];
  for (let row = 0; row < rows; row++) {
    lines.push(texts.map(({ cells, isText }) => field(cells[row], isText)).join(','));
  }
  lines.push('');
  return { format: 'csv', types, data: new Uint8Array(Buffer.from(lines.join('\n'))) };
}

function findType(cells: Cell[]): ColumnType {
  const kinds = new Set(cells.map((cell) => typeof (cell ?? undefined)));
  kinds.delete('undefined');
  if (kinds.has('bigint') && cells.every((cell) => (cell ?? undefined) === undefined || isWhole(cell))) {
    return 'bigint';
  }
  if (kinds.delete('bigint')) {
    kinds.add('number');
  }
  if (kinds.has('string') || kinds.size > 1) {
    return 'text';
  }
  return kinds.has('boolean') ? 'boolean' : 'number';
}

function isWhole(cell: Cell): boolean {
  return typeof cell === 'bigint' || Number.isInteger(cell);
}

/** A missing cell is quoted nothing: an empty line would be no row. */
function field(cell: Cell, isText: boolean): string {
  return cell === null || cell === undefined ? '""' : isText ? quoted(String(cell)) : String(cell);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** The form is held in memory while it is taken apart. */
const MAX_FORM_BYTES = 16 * 1024 * 1024;

/** Fields of `data` that are not part of the model configuration. */
const NOT_OPTIONS = new Set(['model_id', 'task', 'output_type', 'systems']);

/** S 4.7, deprecated. `model_id` is the id of a fitted train set. */
export const legacyPredict: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  rawBody: true,
  async handle(context, request) {
    const started = performance.now();
    const { data, file } = await readParts(request, context.options.times.body);
    const { value: sent } = accept(parseLegacyPredict(data));
    const model = modelFor(context, sent.model_id, sent.task);
    const config = Object.entries(sent).filter(([name]) => !NOT_OPTIONS.has(name));
    const applied = applyConfig(model, Object.fromEntries(config));
    const outcome = await score(context, model, {
      x: { data: file, format: 'csv' },
      outputType: sent.output_type ?? DEFAULT_OUTPUT_TYPE[sent.task],
      quantiles: DEFAULT_QUANTILES,
      options: applied.options,
      signal: abortedWith(request.res),
    });
    const params = { ...applied.config, differentiable_input: false, n_jobs: null };
    const rest = {
      duration_seconds: (performance.now() - started) / 1000,
      task: model.task,
      params,
      used_credits: 0,
      remaining_quota: Number.MAX_SAFE_INTEGER,
    };
    const tail = JSON.stringify(rest).slice(1);
    const body = Buffer.concat([Buffer.from('{"prediction":'), outcome.json, Buffer.from(`,${tail}`)]);
    return { status: 200, body };
  },
};

/** The two parts of the form. @throws Refusal 413, or 422 naming the part */
async function readParts(
  { req }: RouteRequest,
  patience: SenderPatience,
): Promise<{ data: unknown; file: Uint8Array }> {
  const form = await readForm(req, MAX_FORM_BYTES, patience);
  const stray = [...form.keys()].find((name) => name !== 'data' && name !== 'file');
  if (stray !== undefined) {
    throw invalid(`Invalid request: ${stray} is an unknown part of the form.`);
  }
  const data = form.get('data');
  const file = form.get('file');
  if (data === null) {
    throw invalid('Invalid request: the part "data" (JSON) is required.');
  }
  if (file === null) {
    throw invalid('Invalid request: the part "file" (CSV) is required.');
  }
  const text = typeof data === 'string' ? data : await data.text();
  try {
    return { data: JSON.parse(text) as unknown, file: await readBytes(file) };
  } catch {
    throw invalid('Invalid request: the part "data" is not valid JSON.');
  }
}
