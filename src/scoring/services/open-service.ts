import { type ClientOptions, EndpointClient, ServiceClient } from '../../client';
import { EmbeddedService } from './embedded-service';
import { HostedService } from './hosted-service';
import { OnPremClient, type OnPremOptions } from './on-prem-client';
import { OnPremService } from './on-prem-service';
import type { Service } from './service';
import type { ServiceKind } from './service-key';

export interface ServiceWish {
  key: string;
  /** Of the embedded service: see `HeldService`. */
  learner?: string;
  /** Asked for when a client is first needed, and again where the service has moved. */
  options: () => Promise<ClientOptions & Omit<OnPremOptions, 'client'>>;
  onWarning?: (text: string) => void;
}

/** A service of the kind that the user chose. Nothing is started or sent before it is first asked. */
export function openService(kind: ServiceKind, { key, learner, options, onWarning }: ServiceWish): Service {
  switch (kind) {
    case 'embedded':
      return new EmbeddedService({
        learner,
        open: async () => new ServiceClient({ ...(await options()), free: true }),
        onWarning,
      });
    case 'hosted':
      return new HostedService({ key, open: async () => new ServiceClient(await options()), onWarning });
    case 'onPrem':
      return new OnPremService({
        key,
        open: async () => {
          const { folder, requestBytes, ...own } = await options();
          return new OnPremClient({ client: new EndpointClient(own), folder, requestBytes });
        },
        onWarning,
      });
  }
}
