import path from 'node:path';

import type { Anomalies, AnomalyChange, AnomalyNote } from '../../anomaly';
import { Serial } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { anomalyLayer } from '../lazy';
import type { FlowNode } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { OwnedPath } from '../owned-path';
import { anomalyFolder } from '../paths';
import { keptAs } from '../series/request';
import { type AnomalyDef, anomalyOptions } from './request';

/** What one anomaly node knows: opened with the first message that needs it, written at close. */
export class AnomalyKeeper {
  private opened: Anomalies | undefined;
  private readonly owned: OwnedPath;
  private readonly serial = new Serial();
  private closed = false;

  /** @param onChange what happens between two readings */
  constructor(
    private readonly runtime: NodeRuntime<AnomalyDef>,
    private readonly onChange: (change: AnomalyChange) => void,
  ) {
    this.owned = new OwnedPath(runtime);
  }

  /** Where the state is kept. @throws ServiceError `config.invalid` */
  folder(): string {
    return anomalyFolder(this.runtime.red, keptAs(this.runtime));
  }

  /** What is known, where it is open. */
  get current(): Anomalies | undefined {
    return this.opened;
  }

  /** @throws ServiceError `config.invalid`, `storage.failed`, `closed` */
  open(): Promise<Anomalies> {
    return this.serial.run(async () => {
      if (this.closed) {
        throw new ServiceError('closed', 'The node was closed before what it knows was open.');
      }
      if (this.opened !== undefined) {
        return this.opened;
      }
      const options = anomalyOptions(this.runtime);
      const folder = this.folder();
      const notYet = await this.owned.take(folder, (owner) => takenError(folder, owner));
      if (notYet !== undefined) {
        throw new ServiceError('storage.failed', notYet);
      }
      this.opened = await anomalyLayer().Anomalies.open(options, {
        folder,
        notify: (note) => this.tell(note),
        onChange: (change) => this.onChange(change),
      });
      return this.opened;
    });
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.owned.full(underWay, this.opened?.waitsForDisk);
  }

  close(): Promise<void> {
    this.closed = true;
    return this.owned.letGo(() => this.serial.run(() => this.opened?.close()));
  }

  private tell({ text }: AnomalyNote): void {
    if (!this.closed) {
      this.runtime.node.warn(text);
    }
  }
}

function takenError(folder: string, owner: FlowNode): ServiceError {
  return new ServiceError(
    'config.invalid',
    `The field Keep as names "${path.basename(folder)}", where the node "${owner.name || owner.id}" keeps what it knows: write another name.`,
  );
}
