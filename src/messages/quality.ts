import { isNamed } from './paths';

const GOOD = /^\s*(?:good|ok|valid|normal|true)/i;
const BAD = /^\s*(?:bad|uncertain|invalid|error|err|fail|fault|stale|false|not)/i;
/** The two highest bits of a status code of OPC UA: 0 good, 1 uncertain, 2 and 3 bad (OPC UA Part 4, 7.39). */
const SEVERITY = 2 ** 30;
/** From here on the quality of OPC DA is good (OPC DA 3.00, 6.8). */
const GOOD_OF_DA = 192;

/** From here on the quality of a data point of Industrial Edge is good (Common Databus Payload Format). */
const GOOD_OF_DATABUS = 2;

/**
 * Whether a quality or status says that its value cannot be used. What it is not known to say, it does not.
 *
 * @param name what it is named, maybe by a path: a `quality` is good from 192 on, a `qc` from 2 on, and of a status code 0 is
 */
export function isBad(given: unknown, name: string): boolean {
  const quality = isNamed(given)
    ? (given.name ?? given._name ?? given.Symbol ?? given.value ?? given._value ?? given.Code)
    : given;
  if (typeof quality === 'string') {
    return !GOOD.test(quality) && BAD.test(quality);
  }
  if (typeof quality === 'boolean') {
    return !quality;
  }
  if (typeof quality !== 'number') {
    return false;
  }
  return /quality/i.test(name)
    ? quality < GOOD_OF_DA && quality !== 100
    : name === 'qc'
      ? quality < GOOD_OF_DATABUS
      : quality >= SEVERITY;
}
