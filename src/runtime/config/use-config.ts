import type { Connection, ModelCards } from '../../scoring';
import { ServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';
import { StatusLine } from '../status/status-line';
import { whenStarted } from '../status/when-started';
import type { ConfigState } from './config-state';
import { joinDefaultService } from './default-service';

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
