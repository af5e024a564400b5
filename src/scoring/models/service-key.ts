import { CONFIG, type ValueOf } from '../../settings';

export type ServiceKind = ValueOf<typeof CONFIG.service>;

/** Under which the model cards of a service are kept: `embedded`, or its address in full. */
export function serviceKey(
  kind: ServiceKind,
  address: string,
  apiName: string = CONFIG.apiName.fallback,
): string {
  switch (kind) {
    case 'embedded':
      return 'embedded';
    case 'hosted':
      return `${address}/${apiName}`;
    case 'onPrem':
      return `on-prem ${address}`;
  }
}
