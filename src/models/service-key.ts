import { CONFIG, type ValueOf } from '../settings';

/** The key of the embedded service, which has no address of its own. */
export const EMBEDDED = 'embedded';

export type ServiceKind = ValueOf<typeof CONFIG.service>;

/** Under which the model cards of a service are kept: `embedded`, or its address in full. */
export function serviceKey(
  kind: ServiceKind,
  address: string,
  apiName: string = CONFIG.apiName.fallback,
): string {
  switch (kind) {
    case 'embedded':
      return EMBEDDED;
    case 'hosted':
      return `${address}/${apiName}`;
    case 'onPrem':
      return `on-prem ${address}`;
  }
}

/** A service in the words of an error, by its key. */
export function serviceInWords(key: string): string {
  return key === EMBEDDED ? 'the embedded service' : key;
}
