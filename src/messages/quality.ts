import { isNamed } from './paths';

const GOOD = /^\s*(?:good|ok|valid|normal|true)/i;
const BAD = /^\s*(?:bad|uncertain|invalid|error|err|fail|fault|stale|false|not)/i;
/** The two highest bits of a status code of OPC UA: 0 good, 1 uncertain, 2 and 3 bad (OPC UA Part 4, 7.39). */
const SEVERITY = 2 ** 30;
/** From here on the quality of OPC DA is good (OPC DA 3.00, 6.8). */
const GOOD_OF_DA = 192;

/**
 * Whether a quality or status says that its value cannot be used. What it is not known to say, it does not.
 *
 * @param isStatus a status code, of which 0 is good, rather than a quality, of which 192 and more is
 */
export function isBad(given: unknown, isStatus: boolean): boolean {
  const quality = isNamed(given)
    ? (given.name ?? given._name ?? given.Symbol ?? given.value ?? given._value ?? given.Code)
    : given;
  if (typeof quality === 'string') {
    return !GOOD.test(quality) && BAD.test(quality);
  }
  if (typeof quality === 'boolean') {
    return !quality;
  }
  return (
    typeof quality === 'number' && (isStatus ? quality >= SEVERITY : quality < GOOD_OF_DA && quality !== 100)
  );
}
