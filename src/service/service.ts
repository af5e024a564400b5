import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { runsKernels } from '../learner/kernels/scratch';
import { crc32c } from '../table/storage/crc32c';
import { Semaphore, within } from '../util/concurrency';
import { mostOpenFiles } from '../util/files';
import { warmSchemas } from '../wire/check';
import { ServiceError } from '../wire/service-error';
import {
  decoderBytes,
  FAREWELL_MS,
  KEEP_MS,
  type Log,
  machineLimits,
  modelCacheBytes,
  type ResolvedOptions,
  type ServiceLimits,
} from './options';
import { RateLimiter } from './rate-limit';
import { answer } from './router';
import type { ServiceContext, ServiceState } from './routes/context';
import { ServiceMetrics } from './service-metrics';
import { openStore } from './store/store';
import { Fits } from './work/fits';
import { WorkerPool } from './work/pool';
import { FIT_PATIENCE_MS, readPatience } from './work/pool-thread';
import { SubmittedFits } from './work/submitted-fits';

const HOST = '127.0.0.1';
const SWEEP_MS = 60_000;
/** Beyond this, new connections are closed at once. */
const MAX_CONNECTIONS = 2_000;
/** Open files that connections leave to threads and to what is read and written. */
const OTHER_FILES = 40;
const MIN_CONNECTIONS = 8;

export interface HttpService {
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Runs the service on this thread: store, worker pools, HTTP server.
 *
 * @param onLost called when the folder was lost to another process; the service has then closed itself
 * @throws ServiceError `engine.unsupported` (no WebAssembly SIMD), `storage.failed` (folder), `config.invalid` (port in use or
 *   not allowed), `service.unavailable` (modules that cannot be loaded now)
 */
export async function runService(
  options: ResolvedOptions,
  log: Log,
  onLost: (reason: string) => void,
): Promise<HttpService> {
  if (!runsKernels()) {
    throw new ServiceError(
      'engine.unsupported',
      'The embedded service needs WebAssembly with SIMD, which this machine lacks: its processor (x86 needs SSE4.1, ARM ' +
        'needs NEON), or Node.js as it was started (not with --jitless). Use a hosted or an on-premises service, or ' +
        'another machine.',
    );
  }
  await loadModules();
  const limitsUnder = (maxBytes: number): ServiceLimits =>
    machineLimits({ limits: options.limits, maxBytes });
  const fileBytes = (maxBytes: number): number => limitsUnder(maxBytes).dataset_max_size_bytes;
  const own: { service?: HttpService; lost?: string; closing?: Promise<void> } = {};
  const store = await openStore(options, fileBytes, log, (reason) => {
    log('warn', `The service lost its folder ${options.dataDir} (${reason}) and closes.`);
    own.lost = reason;
    void own.service?.close().finally(() => onLost(reason));
  });
  const limits = limitsUnder(store.maxBytes);
  const memory = {
    wasmBytes: decoderBytes(options.fitThreads + options.predictThreads),
    largeReads: new Semaphore(1),
  };
  const fitPool = new WorkerPool({
    name: 'fit',
    script: path.join(__dirname, 'work', 'fit-worker.js'),
    threads: options.fitThreads,
    maxWaiting: 64,
    idleMs: 60_000,
    patienceMs: FIT_PATIENCE_MS,
    ...memory,
    log,
  });
  const predictPool = new WorkerPool({
    name: 'predict',
    script: path.join(__dirname, 'work', 'predict-worker.js'),
    threads: options.predictThreads,
    maxWaiting: 1_000,
    idleMs: 60_000,
    patienceMs: readPatience(0),
    workerData: { cacheBytes: modelCacheBytes(options.predictThreads) },
    ...memory,
    log,
  });
  const metrics = new ServiceMetrics();
  const fits = new Fits({
    store,
    pool: fitPool,
    limits,
    onFitted: (model) => {
      const patienceMs = readPatience(model.bytes);
      predictPool
        .run({ kind: 'load', model }, { key: model.id, prepares: true, patienceMs })
        .catch(() => undefined);
    },
    metrics,
    log,
  });
  const submittedFits = new SubmittedFits(fits, store, log);
  const state = (): ServiceState => {
    if (own.closing !== undefined) {
      return 'closing';
    }
    // Both are asked, as asking starts a thread where the last one did not start.
    const startThreads = [fitPool, predictPool].map((pool) => pool.startsThreads());
    return startThreads.every(Boolean) ? 'ready' : 'no threads';
  };
  const { headersMs } = options.times;
  const server = createServer({
    // Bodies and answers have timeouts of their own.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 3),
  });
  server.maxConnections = Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, mostOpenFiles() - OTHER_FILES));
  const context: ServiceContext = {
    options,
    limits,
    store,
    fits,
    submittedFits,
    predictPool,
    limiter: new RateLimiter(options.rateLimit),
    metrics,
    state,
    port: () => (server.address() as AddressInfo | null)?.port ?? options.port,
    log,
  };
  const answers = new Set<ServerResponse>();
  const respond = (req: IncomingMessage, res: ServerResponse): void => {
    answers.add(res);
    res.once('close', () => answers.delete(res));
    if (own.closing !== undefined) {
      endConnection(res);
    }
    void answer(context, req, res);
  };
  server.on('request', respond);
  server.on('checkContinue', (req, res) => {
    // Who begins to read the body asks for it. What is refused by its headers alone is never asked for one.
    req.once('resume', () => {
      if (!res.headersSent) {
        res.writeContinue();
      }
    });
    respond(req, res);
  });
  const sweeper = setInterval(() => {
    store.uploads.sweep();
    void store.reload();
    store.trim().catch((error: unknown) => log('warn', `Old test sets stay: ${(error as Error).message}`));
  }, SWEEP_MS);
  sweeper.unref();
  const closeParts = async (): Promise<void> => {
    clearInterval(sweeper);
    store.uploads.abort();
    answers.forEach(endConnection);
    // Connections are still taken meanwhile: who asks hears that it is closing.
    await Promise.all([fitPool.close(options.times.fitGraceMs), predictPool.close(options.graceMs)]);
    await within(fits.ended(), KEEP_MS);
    // Only then: a server that closes takes a connection for idle whose answer is ended, but not yet sent.
    await within(allSent(answers), FAREWELL_MS);
    await closeServer(server);
    await submittedFits.close();
    await store.close();
  };
  try {
    await listen(server, options.port);
    if (own.lost !== undefined) {
      throw new ServiceError(
        'storage.failed',
        `The folder ${options.dataDir} was lost while starting: ${own.lost}.`,
      );
    }
  } catch (error) {
    await closeParts();
    throw error;
  }
  predictPool.warm();
  submittedFits.resume().catch((error: unknown) => {
    log('warn', `Submitted fits were not begun again: ${(error as Error).message}`);
  });
  const port = context.port();
  own.service = { url: `http://${HOST}:${port}`, port, close: () => (own.closing ??= closeParts()) };
  return own.service;
}

/** What the first request would load. With too many open files it could not, and Node would remember it as missing. */
async function loadModules(): Promise<void> {
  try {
    await warmSchemas();
    crc32c(new Uint8Array(0));
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new ServiceError(
      'service.unavailable',
      `The service could not load its modules (${reason}): try again in a moment.`,
    );
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${error.message})`;
      reject(
        new ServiceError('config.invalid', `The port ${port} ${why}: choose another one, or 0 for any.`),
      );
    });
    server.listen(port, HOST, resolve);
  });
}

/**
 * Ends the connection with this answer, and says so where its headers are still to come. A client that kept it would send its
 * next request while it is being closed, and would not know what became of it.
 */
function endConnection(res: ServerResponse): void {
  res.shouldKeepAlive = false;
  if (res.headersSent) {
    res.once('finish', () => res.req.socket.end());
  }
}

/** Resolves once no answer is under way: one that is closed leaves the set. */
async function allSent(answers: ReadonlySet<ServerResponse>): Promise<void> {
  for (const answer of answers) {
    await new Promise<void>((resolve) => answer.once('close', resolve));
  }
}

/** Takes no more connections, and closes the others. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) {
    return;
  }
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
