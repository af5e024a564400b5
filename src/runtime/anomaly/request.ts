import type { AnomalyOptions } from '../../anomaly';
import { type FlowProperties, freeText } from '../../settings/kinds';
import { ANOMALY } from '../../settings/nodes';
import { isObject } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { readProperty } from '../fields/settings-reader';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import type { ReadMessages, SeriesRequest } from '../series/read-messages';
import { seriesRequest } from '../series/request';

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
      answer: oneOf('msg.confirm', msg.confirm, ['real', 'usual']),
      ...(typeof id === 'string' && id !== '' && { id }),
      key,
    };
  }
  if (isSaid(msg.odd)) {
    return { kind: 'odd', answer: oneOf('msg.odd', msg.odd, ['usual', 'faults']), key };
  }
  const request = await seriesRequest(runtime, messages, msg);
  // What is for a series node says nothing here.
  return request.kind === 'train' || request.kind === 'outcome' ? { kind: 'nothing' } : request;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** @param place of the answer, for errors; @throws ServiceError `validation.failed` */
export function oneOf<Answer extends string>(
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
export function anomalyOptions(runtime: NodeRuntime<AnomalyDef>): AnomalyOptions {
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
