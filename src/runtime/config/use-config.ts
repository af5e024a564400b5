import type { Connection, ModelCards } from '../../connection';
import { ServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';
import { StatusLine, whenStarted } from '../status/status-line';
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
function joinDefaultService(node: FlowNode): { state(): ConfigState } | undefined {
  const joined = service;
  joined?.join(node);
  return joined === undefined ? undefined : { state: () => joined.of(node) };
}

/** The default service, where it is in use; asking does not count as a use. */
export function defaultState(): ConfigState | undefined {
  return service?.opened();
}

/** A config node as the nodes that use it see it. */
export interface ConfigNode extends FlowNode {
  state: ConfigState;
}

/** The chosen config node as the other nodes use it. */
export interface UsedConfig {
  /** @throws ServiceError `config.invalid` where the chosen one is missing, or what the state throws. */
  connection(): Connection;
  /** The model cards, without a connection; undefined if there are none. */
  cards(): ModelCards | undefined;
  secrets(): readonly string[];
}

/**
 * Looks the config node up on every use: it may be created after the nodes that use it, or be disabled. If none was
 * chosen, the embedded service is used, and the node's status says so until it has something else to show.
 */
export function useConfig(red: Red, node: FlowNode, id: string | undefined): UsedConfig {
  const isDefault = id === undefined || id === '' || id === '_ADD_';
  const embedded = isDefault ? joinDefaultService(node) : undefined;
  if (isDefault) {
    whenStarted(red, node, () => StatusLine.of(node, red).showIdle({ kind: 'plain', key: 'embedded' }));
  }
  const find = (): ConfigState | undefined => (isDefault ? embedded?.state() : configNode(red, id)?.state);
  return {
    connection() {
      const state = find();
      if (state !== undefined) {
        return state.connection();
      }
      throw new ServiceError(
        'config.invalid',
        'The chosen service is missing or disabled: choose another one in the node, or none for the embedded one.',
      );
    },
    cards: () => find()?.savedCards(),
    secrets: () => (isDefault ? [] : (find()?.secrets() ?? [])),
  };
}

/** The config node with this id; undefined if there is none or it is disabled. */
export function configNode(red: Red, id: string): ConfigNode | undefined {
  const node = red.nodes.getNode(id) as ConfigNode | undefined | null;
  return node?.state === undefined ? undefined : node;
}
