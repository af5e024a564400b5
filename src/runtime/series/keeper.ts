import path from 'node:path';

import type { Series, SeriesNote } from '../../series';
import { Serial } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { seriesLayer } from '../lazy';
import type { FlowNode, Red } from '../node-red';
import { OwnedPath } from '../owned-path';
import { seriesFolder } from '../paths';
import { StatusLine } from '../status/status-line';
import { isUnchosen, keptAs, seriesOptions, type Told } from './request';
import { seriesStatus } from './status';
import type { SeriesDef } from './types';

/** How readings are read, as far as messages may say it. */
const READ_SO = ['missing_words', 'unreadable', 'timezone'] as const;

/** The state of one series node: opened with the first message that needs it, written at close. */
export class SeriesKeeper {
  private opened: Series | undefined;
  private openedBy = '';
  private readonly owned: OwnedPath;
  private readonly told: Told = {};
  private readonly serial = new Serial();
  private closed = false;
  private unchosen: boolean | undefined;

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly def: SeriesDef,
  ) {
    this.owned = new OwnedPath(node, () => StatusLine.of(node, red).show('waiting', 'waitsForDisk'));
  }

  /** Whether nobody has chosen yet what is to be predicted. */
  get isUnchosen(): boolean {
    return (this.unchosen ??= isUnchosen(this.red, this.node, this.def));
  }

  /** Where the state is kept. @throws ServiceError `config.invalid` */
  folder(): string {
    return seriesFolder(this.red, keptAs(this.red, this.node, this.def));
  }

  /**
   * The series, opened with the settings that the dialog and the messages so far give.
   * @throws ServiceError `config.invalid`, `validation.failed`, `storage.failed`, `closed`
   */
  open(msg: Readonly<Record<string, unknown>> = {}): Promise<Series> {
    return this.serial.run(() => this.openAs(msg));
  }

  private async openAs(msg: Readonly<Record<string, unknown>>): Promise<Series> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before its readings were open.');
    }
    const told = READ_SO.filter((name) => msg[name] !== undefined);
    // A stream of readings says nothing of them.
    if (this.opened !== undefined && told.length === 0) {
      return this.opened;
    }
    for (const name of told) {
      this.told[name] = msg[name];
    }
    const options = seriesOptions(this.red, this.node, this.def, this.told);
    const key = JSON.stringify(options);
    if (this.opened !== undefined && key === this.openedBy) {
      return this.opened;
    }
    const settings = seriesLayer().parseSeriesSettings(options);
    const folder = this.folder();
    const notYet = await this.owned.take(folder, (owner) => takenError(folder, owner));
    if (notYet !== undefined) {
      throw new ServiceError('storage.failed', notYet);
    }
    await this.opened?.close();
    this.opened = undefined;
    this.opened = await seriesLayer().openSeries(settings, {
      folder,
      notify: (note) => this.tell(note),
    });
    this.openedBy = key;
    return this.opened;
  }

  private tell({ kind, text: said }: SeriesNote): void {
    this.node.warn(said);
    const { opened } = this;
    if (opened !== undefined && (kind === 'storage.failed' || kind === 'storage.ok')) {
      // The disk fills, and has room again, between two messages.
      StatusLine.of(this.node, this.red).become(() => seriesStatus(opened.progress, this.isUnchosen));
    }
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.owned.full(underWay, this.opened?.waitsForDisk);
  }

  close(): Promise<void> {
    this.closed = true;
    return this.owned.letGo(() => this.serial.run(() => this.opened?.close()));
  }
}

function takenError(folder: string, owner: FlowNode): ServiceError {
  return new ServiceError(
    'config.invalid',
    `The field Keep as names "${path.basename(folder)}", where the node "${owner.name || owner.id}" keeps its ` +
      'readings: write another name.',
  );
}
