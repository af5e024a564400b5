import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';

import { untilAborted } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { FlowNode, Red } from './node-red';
import type { NodeRuntime } from './node-runtime';

/** Our own folder in Node-RED's user directory. */
function ownFolder(red: Red): string {
  const userDir = red.settings.userDir ?? path.join(homedir(), '.node-red');
  return path.resolve(userDir, 'tabular-prediction');
}

/** Where the model cards are kept. */
export function modelsPath(red: Red): string {
  return path.join(ownFolder(red), 'models.json');
}

/** Where the embedded service keeps uploads and fitted models. */
export function serviceFolder(red: Red): string {
  return path.join(ownFolder(red), 'service');
}

/** Where the train rows for an on-premises endpoint are kept, which keeps none itself. */
export function trainRowsFolder(red: Red, service: string): string {
  const name = createHash('sha256').update(service).digest('hex').slice(0, 16);
  return path.join(ownFolder(red), 'train-rows', name);
}

/** Where a series node keeps its readings and rows. */
export function seriesFolder(red: Red, keepAs: string): string {
  return path.join(ownFolder(red), 'series', keepAs);
}

/** Where an anomaly node keeps what it knows. */
export function anomalyFolder(red: Red, keepAs: string): string {
  return path.join(ownFolder(red), 'anomaly', keepAs);
}

/** Where a watch node keeps its state. An id of a flow written by hand may hold what is no name of a file. */
export function watchFile(red: Red, nodeId: string): string {
  const name = /^[\w-]{1,100}$/.test(nodeId) ? nodeId : createHash('sha256').update(nodeId).digest('hex');
  return path.join(ownFolder(red), 'watch', `${name}.json`);
}

/** Resolves a path as the core file nodes do: against `fileWorkingDirectory` if that is set. */
export function filePath(red: Red, name: string): string {
  const base = (red.settings as { fileWorkingDirectory?: string }).fileWorkingDirectory;
  return base === undefined || base === '' ? path.resolve(name) : path.resolve(base, name);
}

/** A node that has a file or a folder to itself. */
interface Owner {
  node: FlowNode;
  /** Since when, in milliseconds of `performance.now`, it has been closing, and when it has let go. */
  leaving?: { since: number; left: Promise<void> };
}

const owners = new Map<string, Owner>();

/** An owner that has been closing for so many milliseconds is taken for dead: its disk does not answer. */
const PATIENCE_MS = 120_000;
/** Messages that may wait for a disk. */
const MAX_WAITING = 10_000;

/**
 * A file or a folder that one node at a time reads and writes. A deploy makes a node anew, and Node-RED does not wait for
 * the one before it until a slow disk has answered: it would still write where the new one reads.
 */
export class OwnedPath {
  /** Whether the owner before is waited for. */
  isWaiting = false;
  private owned: string | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly runtime: NodeRuntime,
    private readonly patience = PATIENCE_MS,
  ) {}

  /**
   * Takes a path, which is then this node's alone, once an owner that closes has let go.
   * @param taken the error where another node has it and keeps it; left out where that cannot be
   * @returns why not, where the owner before does not let go
   * @throws ServiceError that, or `closed`
   */
  async take(path: string, taken?: (owner: FlowNode) => ServiceError): Promise<string | undefined> {
    for (let owner = owners.get(path); owner !== undefined; owner = owners.get(path)) {
      if (owner.node === this.runtime.node) {
        return undefined;
      }
      if (owner.leaving === undefined) {
        if (taken !== undefined) {
          throw taken(owner.node);
        }
        break;
      }
      const left = owner.leaving.since + this.patience - performance.now();
      if (left <= 0) {
        return this.notAnswering(path);
      }
      await this.wait(owner.leaving.left, left);
    }
    owners.set(path, { node: this.runtime.node });
    this.owned = path;
    return undefined;
  }

  /**
   * As `take`, of the folder that a field *Keep as* names.
   * @param kept what is in it, for the error: `its readings`
   * @throws ServiceError `config.invalid` where another node has it, `storage.failed` where its disk does not answer, `closed`
   */
  async takeNamed(folder: string, kept: string): Promise<void> {
    const notYet = await this.take(
      folder,
      ({ name, id }) =>
        new ServiceError(
          'config.invalid',
          `The field Keep as names "${path.basename(folder)}", where the node "${name || id}" keeps ${kept}: write another name.`,
        ),
    );
    if (notYet !== undefined) {
      throw new ServiceError('storage.failed', notYet);
    }
  }

  /** Lets go once this work is done, which writes what is left. Who takes the path meanwhile waits for it. */
  async letGo(work: () => Promise<void>): Promise<void> {
    this.closing.abort();
    const left = work();
    const owner = this.owned === undefined ? undefined : owners.get(this.owned);
    if (owner !== undefined) {
      owner.leaving = { since: performance.now(), left: left.then(nothing, nothing) };
    }
    try {
      await left;
    } finally {
      if (this.owned !== undefined && owners.get(this.owned) === owner) {
        owners.delete(this.owned);
      }
    }
  }

  /** The error of one more message, where very many wait for the owner before, or for the disk. */
  full(waiting: number, isSlow = false): ServiceError | undefined {
    return waiting < MAX_WAITING || !(this.isWaiting || isSlow)
      ? undefined
      : new ServiceError(
          'queue.full',
          `${MAX_WAITING} messages wait for a slow disk, where what the node has kept is still being written. This one was refused: send less, or use a faster disk.`,
        );
  }

  private async wait(left: Promise<void>, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    this.isWaiting = true;
    this.runtime.status.show('waiting', 'waitsForDisk');
    try {
      await untilAborted(Promise.race([left, late]), this.closing.signal);
    } catch {
      throw new ServiceError('closed', 'The node was closed while it waited for a slow disk.');
    } finally {
      clearTimeout(timer);
      this.isWaiting = false;
    }
  }

  private notAnswering(path: string): string {
    return (
      `The disk does not answer: the node as it was before the last deploy has been writing in ${path} for ` +
      `${Math.round(this.patience / 1000)} s. What is kept there is not touched, and the next message tries again.`
    );
  }
}

function nothing(): void {
  return undefined;
}
