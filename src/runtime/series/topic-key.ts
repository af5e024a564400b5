import { ServiceError } from '../../wire/service-error';

/** What the dialog refuses as well (`topic` in resources/validators.js): anything but one +, and a # before the end. */
const FILTER = /^(?=[^+]*\+[^+]*$)(?:(?:[^+#/]*|\+)\/)*(?:[^+#/]*|\+|#)$/;

/**
 * The key of a message by its topic.
 * @param filter as a subscription of MQTT, with one `+` where the key is: `plant/+/#`
 * @throws ServiceError `config.invalid` for another filter, `validation.failed` for a topic that it does not fit
 */
export function keyOfTopic(filter: string, topic: unknown): string {
  if (!FILTER.test(filter)) {
    throw new ServiceError(
      'config.invalid',
      `The field Key must be a topic with one + where the key is, such as plant/+/#, not "${filter}".`,
    );
  }
  const key = typeof topic === 'string' ? levelAt(filter.split('/'), topic.split('/')) : undefined;
  if (key === undefined || key === '') {
    const which = typeof topic === 'string' ? `The topic "${topic.slice(0, 200)}"` : 'msg.topic';
    throw new ServiceError(
      'validation.failed',
      `${which} does not fit "${filter}", by which the field Key tells machines apart: subscribe to less, or change the field.`,
    );
  }
  return key;
}

/** The level at the `+`; undefined where the topic does not fit. */
function levelAt(filter: readonly string[], topic: readonly string[]): string | undefined {
  const isOpen = filter.at(-1) === '#';
  const fixed = isOpen ? filter.slice(0, -1) : filter;
  const fits =
    (isOpen ? topic.length >= fixed.length : topic.length === fixed.length) &&
    fixed.every((level, i) => level === '+' || level === topic[i]);
  return fits ? topic[filter.indexOf('+')] : undefined;
}
