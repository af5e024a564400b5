import type { Connection } from '../../scoring';
import { ServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';
import type { ServiceHandle } from './config-node';

/** A config node: what its users reach it by. */
export interface ConfigNode extends FlowNode {
  handle: ServiceHandle;
}

/** The chosen config node as the other nodes use it. */
export interface UsedConfig {
  /** @throws ServiceError `config.invalid` where none is chosen, or what the handle throws. */
  connection(): Connection;
  secrets(): readonly string[];
}

/** Finds the config node anew each time: it may be created after its users, or be disabled. */
export function useConfig(red: Red, id: string | undefined): UsedConfig {
  const find = (): ConfigNode | undefined => {
    if (id === undefined || id === '') {
      return undefined;
    }
    const node = red.nodes.getNode(id) as ConfigNode | undefined | null;
    return node?.handle === undefined ? undefined : node;
  };
  return {
    connection() {
      const node = find();
      if (node !== undefined) {
        return node.handle.connection();
      }
      throw new ServiceError(
        'config.invalid',
        'No service is chosen, or its configuration is missing or disabled: choose one in the node.',
      );
    },
    secrets: () => find()?.handle.secrets() ?? [],
  };
}
