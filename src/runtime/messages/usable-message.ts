import { reasonOf } from '../../util/reason';
import { isThenable } from '../../util/thenable';
import { ServiceError } from '../../wire/service-error';
import type { Message } from '../node-red';

/**
 * The message in a form that a node can change: itself, or a shallow copy if its properties cannot be set (frozen, or
 * with accessors).
 * @throws ServiceError `validation.failed` for a property that throws when it is read, and for a message that is a
 * promise: whoever awaits it waits for its `then`
 */
export function usableMessage(msg: Message): Message {
  const usable = isOpen(msg) ? msg : plainCopy(msg);
  if (isThenable(usable)) {
    throw new ServiceError(
      'validation.failed',
      'The message is a promise (it has a function named "then"): await it before it is sent.',
    );
  }
  return usable;
}

function isOpen(msg: Message): boolean {
  return (
    Object.isExtensible(msg) &&
    Object.values(Object.getOwnPropertyDescriptors(msg)).every(
      ({ writable, configurable }) => writable === true && configurable === true,
    )
  );
}

function plainCopy(msg: Message): Message {
  const read = (name: string): unknown => {
    try {
      return msg[name];
    } catch (error) {
      throw new ServiceError('validation.failed', `msg.${name} cannot be read: ${reasonOf(error)}`);
    }
  };
  return Object.fromEntries(Object.keys(msg).map((name) => [name, read(name)])) as Message;
}
