import { ServiceError } from '../../wire/service-error';
import type { FlowNode } from '../node-red';
import type { ConfigState } from './config-state';

type OpenEmbedded = (node: FlowNode) => ConfigState;

/** The embedded service for nodes without a chosen service: the first one opens it, the last one closes it. */
class DefaultService {
  private state: ConfigState | undefined;
  private readonly users = new Set<FlowNode>();

  constructor(readonly open: OpenEmbedded) {}

  /** Counts a node in, until it closes. */
  join(node: FlowNode): void {
    this.users.add(node);
    node.on('close', (_removed: boolean, closed: () => void) => {
      this.users.delete(node);
      void this.leave()
        .catch((error: unknown) => node.warn(String(error)))
        .finally(closed);
    });
  }

  /** @throws ServiceError `closed` for a node that has left */
  of(node: FlowNode): ConfigState {
    if (!this.users.has(node)) {
      throw new ServiceError('closed', 'The node was closed.');
    }
    this.state ??= this.open(node);
    return this.state;
  }

  /** The service, where a node has used it. */
  opened(): ConfigState | undefined {
    return this.state;
  }

  private async leave(): Promise<void> {
    if (this.users.size > 0) {
      return;
    }
    const { state } = this;
    this.state = undefined;
    await state?.close();
  }
}

let service: DefaultService | undefined;

/** Sets how the embedded service is opened for nodes without a chosen one. The config node's set calls it on load. */
export function provideDefaultService(open: OpenEmbedded): void {
  service = new DefaultService(open);
}

/** The default service, without being counted as a user; undefined if the config node's set is disabled. */
export function defaultService(): Pick<DefaultService, 'open' | 'opened'> | undefined {
  return service;
}

/** The default service, with this node counted as a user; undefined if the config node's set is disabled. */
export function joinDefaultService(node: FlowNode): { state(): ConfigState } | undefined {
  const joined = service;
  joined?.join(node);
  return joined === undefined ? undefined : { state: () => joined.of(node) };
}

/** The default service, where it is in use; asking does not count as a use. */
export function defaultState(): ConfigState | undefined {
  return service?.opened();
}
