import { BoundedMap } from '../../../util/collections';
import { Serial } from '../../../util/concurrency';
import { NewerFile } from '../../../util/files';
import { FolderInUse } from '../../../util/folder-lock';
import { reasonOf } from '../../../util/values';
import type { Watch, WatchOptions } from '../../../watch';
import { ServiceError } from '../../../wire/service-error';
import { watchLayer } from '../../lazy';
import { type FlowNode, type Red, text } from '../../node-red';
import { OwnedPath } from '../../owned-path';
import { watchFile } from '../../paths';
import { StatusLine } from '../../status/status-line';
import { StateFile } from './state-file';

/** Models that one node watches; beyond that the one whose predictions are longest ago is forgotten. */
export const MAX_MODELS = 20;
/** Milliseconds between writes of the state at least; it is written at once where the flow got a change. */
const WRITE_MS = 60_000;
/** A state that cannot be read now (too many open files, a disk in trouble) is tried again after this, in milliseconds. */
const READ_AGAIN_MS = 5_000;

/** Watches by their model's name, that of the newest predictions last. */
export type Watches = BoundedMap<string, Watch>;

/** The watches of one node by their model's name: read from disk with the first use, written each minute and at close. */
export class KeptWatches {
  readonly watches: Watches = new BoundedMap<string, Watch>(MAX_MODELS);
  private readonly path: string;
  private readonly file: StateFile;
  private readonly owned: OwnedPath;
  private readonly serial = new Serial();
  private isRead = false;
  private readAgainAt = 0;
  private isWritten = true;
  private isFailing = false;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param options what the watches go on by */
  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly options: () => WatchOptions,
  ) {
    this.path = watchFile(red, node.id);
    this.file = new StateFile(this.path);
    this.owned = new OwnedPath(node, () => StatusLine.of(node, red).show('waiting', 'waitsForDisk'));
  }

  /**
   * Works on the watches once they are read, one piece of work after another.
   * @throws ServiceError `closed`, `config.invalid`
   */
  use<T>(work: (watches: Watches) => T | Promise<T>): Promise<T> {
    return this.serial.run(async () => {
      await this.read();
      return work(this.watches);
    });
  }

  /** Something was counted: it is written within a minute, or `atOnce`. */
  changed(atOnce: boolean): void {
    this.isWritten = false;
    if (atOnce) {
      void this.serial.run(() => this.write());
    }
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.owned.full(underWay);
  }

  /** Writes what was counted; where the node is deleted nothing stays. */
  async close(isDeleted: boolean): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.owned.letGo(() =>
      this.serial.run(async () => {
        await (isDeleted ? this.file.remove() : this.write());
        await this.file.close();
      }),
    );
  }

  private async read(): Promise<void> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before its state was read.');
    }
    if (this.isRead) {
      return;
    }
    const options = this.options();
    if (this.timer === undefined) {
      this.timer = setInterval(() => void this.serial.run(() => this.write()), WRITE_MS);
      this.timer.unref();
    }
    if (performance.now() < this.readAgainAt) {
      return;
    }
    const notYet = await this.owned.take(this.path);
    if (notYet !== undefined) {
      this.unread(notYet);
      return;
    }
    const { Watch } = watchLayer();
    try {
      for (const { model, state } of await this.file.read()) {
        this.watches.set(model, Watch.from(state, options));
      }
      this.isFailing = false;
    } catch (error) {
      if (isOfFileSystem(error) || error instanceof NewerFile || error instanceof FolderInUse) {
        this.unread(error);
        return;
      }
      this.watches.clear();
      this.node.warn(text(this.red, 'warning.watchState', { reason: reasonOf(error) }));
    }
    this.isRead = true;
  }

  /** What is stored is sound: predictions go on, and it is not overwritten. */
  private unread(reason: unknown): void {
    this.readAgainAt = performance.now() + READ_AGAIN_MS;
    this.failed('warning.watchUnread', reason);
  }

  /** Never fails, but tells. */
  private async write(): Promise<void> {
    if (this.isWritten || !this.isRead) {
      return;
    }
    this.isWritten = true;
    try {
      await this.file.write(Array.from(this.watches, ([model, watch]) => ({ model, state: watch.toJSON() })));
      this.isFailing = false;
    } catch (error) {
      this.isWritten = false;
      this.failed('warning.watchStorage', error);
    }
  }

  private failed(key: string, error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.node.warn(text(this.red, key, { reason: reasonOf(error) }));
    }
  }
}

/** Whether the file system said so, and not the bytes that were read. */
function isOfFileSystem(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
