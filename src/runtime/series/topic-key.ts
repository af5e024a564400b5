import { ServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/settings-reader';
import { messagesLayer } from '../lazy';
import type { FlowNode, Message, Red } from '../node-red';
import type { SeriesDef } from './types';

/**
 * The key of a message by its topic.
 * @param filter as a subscription of MQTT, with one `+` where the key is: `plant/+/#`
 * @throws ServiceError `config.invalid` for another filter, `validation.failed` for a topic that it does not fit
 */
export function keyOfTopic(filter: string, topic: unknown): string {
  const pattern = messagesLayer().TopicPattern.parse(filter);
  const key = typeof topic === 'string' ? pattern.match(topic)?.key : undefined;
  if (key === undefined && !(typeof topic === 'string' && pattern.match(topic) !== undefined)) {
    const which = typeof topic === 'string' ? `The topic "${topic.slice(0, 200)}"` : 'msg.topic';
    throw new ServiceError(
      'validation.failed',
      `${which} does not fit "${filter}", by which the field Key tells machines apart: subscribe to less, or change the field.`,
    );
  }
  return key ?? '';
}

/** The key that a property of the message or its topic holds; undefined where the dialog names a column, or nothing. */
export function keyOfMessage(red: Red, node: FlowNode, def: SeriesDef, msg: Message): string | undefined {
  if (def.keyType === 'topic') {
    const filter = fromEnvironment(red, node, def.key).trim();
    return filter === '' ? undefined : keyOfTopic(filter, msg.topic) || undefined;
  }
  if (def.keyType !== 'msg') {
    return undefined;
  }
  const property = fromEnvironment(red, node, def.key).trim();
  if (property === '') {
    return undefined;
  }
  const key: unknown = red.util.getMessageProperty(msg, property);
  if (typeof key === 'string' || typeof key === 'number') {
    return String(key);
  }
  throw new ServiceError(
    'validation.failed',
    `There is no key: msg.${property}, which the field Key names, is ${key === undefined ? 'not set' : 'no text'}.`,
  );
}
