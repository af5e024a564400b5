import type { Anomalies, AnomalyChange, AnomalyNote, AnomalyOptions } from '../../anomaly';
import { type FlowProperties, freeText } from '../../settings/kinds';
import { ANOMALY } from '../../settings/nodes';
import { Serial } from '../../util/concurrency';
import { isObject } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { readProperty } from '../fields/settings-reader';
import { forgetColumns } from '../input/columns-seen';
import { anomalyLayer } from '../lazy';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { anomalyFolder, OwnedPath } from '../paths';
import type { ReadMessages, SeriesRequest } from '../series/read-messages';
import { keptAs, seriesRequest } from '../series/request';

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
      await this.owned.takeNamed(folder, 'what it knows');
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

  async close(removed = false): Promise<void> {
    this.closed = true;
    await this.owned.letGo(() => this.serial.run(() => this.opened?.close()));
    if (removed) {
      forgetColumns(this.runtime.id);
    }
  }

  private tell({ text }: AnomalyNote): void {
    if (!this.closed) {
      this.runtime.node.warn(text);
    }
  }
}

/** The anomaly node as it stands in a flow file. */
export type AnomalyDef = FlowNodeDef & FlowProperties<typeof ANOMALY>;

/** What a message asks of the anomaly node. */
export type AnomalyRequest =
  | Extract<SeriesRequest, { kind: 'nothing' | 'reset' | 'reading' | 'readings' | 'table' }>
  | { kind: 'confirm'; answer: 'real' | 'usual'; id?: string; key?: string }
  | { kind: 'odd'; answer: 'usual' | 'faults'; key?: string };

/** What may stand in a property of the message that names a key. */
const NAME = freeText();

/** @throws ServiceError `validation.failed`, `table.empty`, `table.invalid`, `file.unreadable`, `config.invalid` */
export async function anomalyRequest(
  runtime: NodeRuntime<AnomalyDef>,
  messages: ReadMessages,
  msg: Message,
): Promise<AnomalyRequest> {
  const key = readProperty(NAME, 'key', msg);
  if (isSaid(msg.confirm)) {
    const { id } = isObject(msg.anomaly) ? msg.anomaly : {};
    return {
      kind: 'confirm',
      answer: checkedAnswer('msg.confirm', msg.confirm, ['real', 'usual']),
      ...(typeof id === 'string' && id !== '' && { id }),
      key,
    };
  }
  if (isSaid(msg.odd)) {
    return { kind: 'odd', answer: checkedAnswer('msg.odd', msg.odd, ['usual', 'faults']), key };
  }
  const request = await seriesRequest(runtime, messages, msg);
  // What is for a series node says nothing here.
  return request.kind === 'train' || request.kind === 'outcome' ? { kind: 'nothing' } : request;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** @param place of the answer, for errors; @throws ServiceError `validation.failed` */
export function checkedAnswer<Answer extends string>(
  place: string,
  value: unknown,
  answers: readonly Answer[],
): Answer {
  const answer = answers.find((one) => one === value);
  if (answer === undefined) {
    throw new ServiceError(
      'validation.failed',
      `${place} must be ${answers.map((one) => `"${one}"`).join(' or ')}, not ${JSON.stringify(value)?.slice(0, 100)}.`,
    );
  }
  return answer;
}

/** The settings of the dialog. @throws ServiceError `config.invalid` */
function anomalyOptions(runtime: NodeRuntime<AnomalyDef>): AnomalyOptions {
  const read = runtime.settings(ANOMALY);
  return {
    key: ['msg', 'topic'].includes(read('keyType') ?? '') ? undefined : read('key'),
    time: read('time'),
    ignore: read('ignore'),
    alarms: read('alarms'),
    per: read('per'),
    every: read('every'),
    learn: read('learn'),
  };
}
