import { parentPort } from 'node:worker_threads';

import { Pipe } from '../../util/concurrency';
import { toServiceError } from '../../wire/service-error';
import { hasTrapped, wasmBytes } from '../arrow/heavy-modules';
import type { Column, FileFormat } from '../cells/types';
import { addCounts, type Cell, type ColumnBatch, listCells, transferList } from '../columns/column-batch';
import { gatherBatches } from '../columns/read-batches';
import type { SliceSource } from '../columns/slices';
import { type SampleChoice, TableSampler } from '../columns/table-sample';
import { profileSource } from '../inference/profile';
import { ParquetSource } from '../parquet/source';
import { writeParquet } from '../parquet/writer';
import { type FileVersion, Sink, type Written } from '../storage/table-file';
import { checkAsIs, openOrigin, type Origin } from './files';
import {
  type Answer,
  type EncoderTask,
  type OpenedTable,
  type Request,
  ROW_SEPARATOR,
  type WrittenTrainSet,
} from './protocol';

/** How a task talks to the thread that asked for it. */
interface JobPort {
  readonly signal: AbortSignal;
  /** The next request; throws once the job is aborted. */
  next(): Promise<Request>;
  send(answer: Answering<Answer>, transfer?: ArrayBuffer[]): void;
}

type Answering<T> = T extends unknown ? Omit<T, 'job'> : never;

interface Outcome {
  result: unknown;
  transfer?: ArrayBuffer[];
}

/** Does what the other thread asked for; throws ServiceError. */
async function runTask(task: EncoderTask, port: JobPort): Promise<Outcome> {
  switch (task.name) {
    case 'encode':
      return encode(task, port);
    case 'open':
      return withSource(task.origin, (source, version) =>
        Promise.resolve({ result: describe(source, version) }),
      );
    case 'profile':
      return withSource(task.origin, async (source) => ({
        result: await profileSource(source, {
          ...task.options,
          signal: port.signal,
          onRead: everyPercent((part) => port.send({ kind: 'read', part })),
        }),
      }));
    case 'read':
      return withSource(task.origin, (source) => read(source, task, port));
    case 'trainSet':
      return task.origin === undefined
        ? trainSet(received(port), task, port)
        : withSource(task.origin, (source) =>
            trainSet(gatherBatches(source, task.columns, { signal: port.signal }), task, port),
          );
    case 'jsonRows':
      return withSource(task.origin, (source) => jsonRows(source, task, port));
    case 'asIs':
      return {
        result: await checkAsIs(task.origin, task.columns, task.most, {
          signal: port.signal,
          onRead: everyPercent((part) => port.send({ kind: 'read', part })),
        }),
      };
  }
}

function describe(source: SliceSource, version: FileVersion | undefined): OpenedTable {
  const { names, rowCount } = source;
  return {
    names: [...names],
    rowCount,
    version,
    ...(source instanceof ParquetSource && {
      parquet: { stored: source.fields.map(({ type }) => type.typeId), bytes: source.bytes },
    }),
  };
}

/** What a file changed in the middle has given is refused at the end. */
async function withSource(
  origin: Origin,
  work: (source: SliceSource, version: FileVersion | undefined) => Promise<Outcome>,
): Promise<Outcome> {
  const opened = await openOrigin(origin);
  try {
    const outcome = await work(opened.source, opened.version);
    await opened.demandUnchanged();
    return outcome;
  } finally {
    await opened.close();
  }
}

async function encode(task: EncoderTask & { name: 'encode' }, port: JobPort): Promise<Outcome> {
  const sink = new Sink(task.spill);
  try {
    await writeFile(task, task.columns, task.batches ?? told(received(port), port), sink);
    const file = await sink.finish();
    return written(file, [file]);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** Writes batches in a format. */
function writeFile(
  { format, compress }: { format: FileFormat; compress: boolean },
  columns: readonly Column[],
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
  sink: Sink,
): Promise<void> {
  return format === 'csv' ? writeCsv(columns, batches, sink) : writeParquet(columns, batches, sink, compress);
}

/** The batches that the other thread sends. */
async function* received(port: JobPort): AsyncIterable<ColumnBatch> {
  for (;;) {
    const request = await port.next();
    if (request.kind !== 'batch') {
      return;
    }
    yield request.batch;
  }
}

/** Counts batches, and tells of each once it is written. */
async function* told(
  batches: AsyncIterable<ColumnBatch>,
  port: JobPort,
  count: { rows: number; cleaned: Record<string, number> } = { rows: 0, cleaned: {} },
): AsyncIterable<ColumnBatch> {
  for await (const batch of batches) {
    addCounts(count.cleaned, batch.cleaned);
    const { rows } = batch;
    yield batch;
    count.rows += rows;
    port.send({ kind: 'written', rows: count.rows });
  }
}

/** Answers with the bytes of files in memory, transferred. */
function written(result: unknown, files: readonly Written[]): Outcome {
  return { result, transfer: files.flatMap((file) => (file.data === undefined ? [] : [file.data.buffer])) };
}

async function read(
  source: SliceSource,
  task: EncoderTask & { name: 'read' },
  port: JobPort,
): Promise<Outcome> {
  const { columns, options } = task;
  let part: number | undefined;
  const onRead = (now: number): void => void (part = now);
  await port.next();
  for await (const batch of gatherBatches(source, columns, { ...options, signal: port.signal, onRead })) {
    port.send({ kind: 'batch', batch, ...(part !== undefined && { part }) }, transferList(batch));
    await port.next();
  }
  return { result: undefined };
}

/** Tells a part at most once in a hundredth. */
function everyPercent(tell: (part: number) => void): (part: number) => void {
  let reported = 0;
  return (part) => {
    if (part - reported >= 0.01 || (part === 1 && reported < 1)) {
      reported = part;
      tell(part);
    }
  };
}

async function trainSet(
  read: AsyncIterable<ColumnBatch>,
  task: EncoderTask & { name: 'trainSet' },
  port: JobPort,
): Promise<Outcome> {
  const { columns, target, spills, sample } = task;
  const sinks = { x: new Sink(spills.x), y: new Sink(spills.y) };
  try {
    const count = { rows: 0, cleaned: {} };
    const batches = sampled(columns, told(read, port, count), sample, port);
    const parts = trainColumns(columns, target);
    await writeTrainSet(columns, target, batches, {
      x: (part) => writeFile(task, parts.x, part, sinks.x),
      y: (part) => writeFile(task, parts.y, part, sinks.y),
    });
    const x = await sinks.x.finish();
    const y = await sinks.y.finish();
    return written({ x, y, ...count } satisfies WrittenTrainSet, [x, y]);
  } catch (error) {
    await Promise.all([sinks.x.discard(), sinks.y.discard()]);
    throw error;
  }
}

interface TrainColumns {
  x: Column[];
  y: Column[];
}

/** The columns of the feature file (X) and of the target file (y). */
function trainColumns(columns: readonly Column[], target: string): TrainColumns {
  return {
    x: columns.filter(({ name }) => name !== target),
    y: columns.filter(({ name }) => name === target),
  };
}

/** The features and the target of a batch. They share its buffers with it. */
function splitBatch(
  columns: readonly Column[],
  target: string,
  { rows, columns: data }: ColumnBatch,
): { x: ColumnBatch; y: ColumnBatch } {
  return {
    x: { rows, columns: data.filter((_, index) => columns[index]!.name !== target) },
    y: { rows, columns: data.filter((_, index) => columns[index]!.name === target) },
  };
}

type Write = (batches: AsyncIterable<ColumnBatch>) => Promise<void>;

/** Reads batches once and writes X and y side by side. When one of the three fails, the others end too. */
async function writeTrainSet(
  columns: readonly Column[],
  target: string,
  batches: AsyncIterable<ColumnBatch>,
  write: { x: Write; y: Write },
): Promise<void> {
  const x = new Pipe<ColumnBatch>();
  const y = new Pipe<ColumnBatch>();
  const failBoth = (error: Error): never => {
    x.fail(error);
    y.fail(error);
    throw error;
  };
  const reading = (async () => {
    for await (const batch of batches) {
      const parts = splitBatch(columns, target, batch);
      await Promise.all([x.push(parts.x), y.push(parts.y)]);
    }
    x.end();
    y.end();
  })().catch(failBoth);
  const work = [reading, write.x(x).catch(failBoth), write.y(y).catch(failBoth)];
  const results = await Promise.allSettled(work);
  // What failed first is what the pipes carry on to the others.
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}

async function jsonRows(
  source: SliceSource,
  task: EncoderTask & { name: 'jsonRows' },
  port: JobPort,
): Promise<Outcome> {
  const { signal } = port;
  const tell = (): ((part: number) => void) => everyPercent((part) => port.send({ kind: 'read', part }));
  const { columns, rows } = await profileSource(source, { signal, onRead: tell() });
  const { names = [...source.names] } = task;
  const ordered = names.map((name) => columns.find((column) => column.name === name)!);
  const sink = new Sink(task.spill);
  try {
    await writeJsonRows(gatherBatches(source, ordered, { signal, onRead: tell() }), sink);
    const file = await sink.finish();
    return written({ file, rows, names }, [file]);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** The batches as they come; when they have ended, their sample is sent, where one is asked for. */
async function* sampled(
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  choice: SampleChoice | undefined,
  port: JobPort,
): AsyncIterable<ColumnBatch> {
  const sampler = choice && new TableSampler(columns, choice);
  for await (const batch of batches) {
    sampler?.add(batch);
    yield batch;
  }
  if (sampler !== undefined) {
    port.send({ kind: 'sample', sample: sampler.take() });
  }
}

/**
 * Writes batches as CSV (RFC 4180 quoting, LF, UTF-8): a header, empty for missing, dates in ISO 8601. The
 * only field of a row is quoted when empty, because readers skip empty lines.
 */
async function writeCsv(
  columns: readonly Column[],
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
  sink: Sink,
): Promise<void> {
  const single = columns.length === 1;
  await sink.write(Buffer.from(`${columns.map(({ name }) => quoted(name, single)).join(',')}\n`));
  for await (const batch of batches) {
    const cells = batch.columns.map(listCells);
    let text = '';
    for (let row = 0; row < batch.rows; row++) {
      for (let i = 0; i < cells.length; i++) {
        text += i === 0 ? field(cells[i]![row]!, single) : `,${field(cells[i]![row]!, single)}`;
      }
      text += '\n';
    }
    await sink.write(Buffer.from(text));
  }
}

function field(cell: Cell, single: boolean): string {
  if (cell === null) {
    return single ? '""' : '';
  }
  if (typeof cell === 'string') {
    return quoted(cell, single);
  }
  return cell instanceof Date ? cell.toISOString() : String(cell);
}

function quoted(text: string, single: boolean): string {
  return /[",\r\n]/.test(text) || (single && text === '') ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows that are made into text at a time. */
const JSON_ROWS = 1000;

/**
 * Writes batches as JSON arrays, one for each row, with `ROW_SEPARATOR` between; the brackets around all of them are
 * left to the caller, which may put several such files into one body. Missing cells are null, dates seconds since 1970 (JSON has no
 * dates), infinite numbers such that overflow, as JSON readers take them.
 */
async function writeJsonRows(batches: AsyncIterable<ColumnBatch>, sink: Sink): Promise<void> {
  let isFirst = true;
  for await (const batch of batches) {
    const cells = batch.columns.map(listCells);
    for (let from = 0; from < batch.rows; from += JSON_ROWS) {
      let text = '';
      for (let row = from; row < Math.min(batch.rows, from + JSON_ROWS); row++) {
        text += `${isFirst ? '' : ROW_SEPARATOR}[${cells.map((column) => writeJson(column[row]!)).join(',')}]`;
        isFirst = false;
      }
      await sink.write(Buffer.from(text));
    }
  }
}

function writeJson(cell: Cell): string {
  if (typeof cell === 'string') {
    return JSON.stringify(cell);
  }
  if (typeof cell === 'number') {
    return Number.isFinite(cell) ? String(cell) : cell > 0 ? '1e999' : '-1e999';
  }
  return cell instanceof Date ? String(cell.getTime() / 1000) : String(cell);
}

/** The encoder thread: runs pieces of work side by side, each an asynchronous function with its own inbox. */
const port = parentPort!;
const inboxes = new Map<number, Inbox>();

/** WebAssembly memory never shrinks; a Parquet file with one huge row group can make it grow so far. */
const RETIRE_BYTES = 256 * 1024 * 1024;

class Inbox implements JobPort {
  private readonly controller = new AbortController();
  private readonly requests: Request[] = [];
  private wake: (() => void) | undefined;

  constructor(private readonly job: number) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  put(request: Request): void {
    if (request.kind === 'abort') {
      this.controller.abort();
    } else {
      this.requests.push(request);
    }
    this.wake?.();
  }

  async next(): Promise<Request> {
    for (;;) {
      this.signal.throwIfAborted();
      const request = this.requests.shift();
      if (request !== undefined) {
        return request;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  send(answer: Answering<Answer>, transfer: ArrayBuffer[] = []): void {
    port.postMessage({ ...answer, job: this.job }, transfer);
  }
}

/** Whether this thread holds so much memory that it should end when it is idle. */
function isLarge(): boolean {
  return hasTrapped() || wasmBytes() > RETIRE_BYTES;
}

async function work(task: EncoderTask, inbox: Inbox): Promise<void> {
  try {
    const { result, transfer } = await runTask(task, inbox);
    inbox.send({ kind: 'done', result, retire: isLarge() }, transfer);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      // A trap leaves the WebAssembly module in an unknown state: this thread ends, and a new one is started.
      setImmediate(() => {
        throw error;
      });
      return;
    }
    const { code, message } = toServiceError(error);
    inbox.send({ kind: 'failed', error: { code, message }, retire: isLarge() });
  }
}

port.on('message', (request: Request) => {
  if (request.kind !== 'start') {
    inboxes.get(request.job)?.put(request);
    return;
  }
  const inbox = new Inbox(request.job);
  inboxes.set(request.job, inbox);
  void work(request.task, inbox).finally(() => inboxes.delete(request.job));
});
