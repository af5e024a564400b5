import { type ClientOptions, EndpointClient, ServiceClient } from '../client';
import type { ClientPort } from './context/client-port';
import type { ServiceKind } from './models/service-key';
import { type OnPremOptions, OnPremPort } from './on-prem/on-prem-port';

/**
 * A client of a service of any kind, which the work with it does not tell apart. The caller closes it.
 *
 * @param onPrem what an on-premises endpoint needs besides the options
 * @throws ServiceError `config.invalid`
 */
export function openClient(
  kind: ServiceKind,
  options: ClientOptions,
  onPrem: Omit<OnPremOptions, 'client'> = {},
): ClientPort {
  return kind === 'onPrem'
    ? new OnPremPort({ ...onPrem, client: new EndpointClient(options) })
    : new ServiceClient(options);
}
