import { existsSync } from 'node:fs';

import type { ModelCards } from '../../scoring';
import type { ServiceKind } from '../../scoring/services/service-key';
import { ServiceError } from '../../wire/service-error';
import type { ConfigState } from '../config/config-state';
import { defaultState } from '../config/default-service';
import { type ConfigNode, configNode } from '../config/use-config';
import { modelCards } from '../lazy';
import type { Red } from '../node-red';
import { modelsPath } from '../paths';

/** Stands for the embedded service of nodes that have none chosen. */
export const NO_CONFIG = 'none';

/** A service as the sidebar shows it. */
export interface ShownService {
  /** Of its config node, or NO_CONFIG. */
  id: string;
  /** What the config node is called; empty where it has no name. */
  name: string;
  kind: ServiceKind;
}

/** A service with what is known of its models. */
export type ServiceOfModels = ShownService & { key: string; state?: ConfigState };

/** The services of the flows, each once: config nodes of one address share their models. */
export function services(red: Red): ServiceOfModels[] {
  const found = new Map<string, ServiceOfModels>();
  red.nodes.eachNode((def) => {
    const node = def.type === 'tabular-config' ? configNode(red, def.id) : undefined;
    const key = node?.state.key();
    if (node !== undefined && key !== undefined && !found.has(key)) {
      found.set(key, { id: node.id, name: node.name ?? '', kind: node.state.kind, key, state: node.state });
    }
  });
  if (!found.has('embedded')) {
    const state = defaultState();
    found.set('embedded', {
      id: NO_CONFIG,
      name: '',
      kind: 'embedded',
      key: 'embedded',
      ...(state !== undefined && { state }),
    });
  }
  return [...found.values()];
}

/** @throws ServiceError `config.invalid` where no node has that service any more */
export function serviceState(red: Red, id: string): ConfigState {
  const node: ConfigNode | undefined = id === NO_CONFIG ? undefined : configNode(red, id);
  const state = node?.state ?? (id === NO_CONFIG ? embeddedState(red) : undefined);
  if (state === undefined) {
    throw new ServiceError(
      'config.invalid',
      'No node of the flows uses this service now: deploy one that does.',
    );
  }
  return state;
}

/**
 * Reads the cards of a service, whether it is in use or not.
 * @throws ServiceError `storage.failed` where a newer version of this package wrote them
 */
export async function withCards<Answer>(
  red: Red,
  { key, state }: Pick<ServiceOfModels, 'key' | 'state'>,
  read: (cards: ModelCards | undefined) => Answer | Promise<Answer>,
): Promise<Answer> {
  const known = state?.savedCards();
  if (known !== undefined || !existsSync(modelsPath(red))) {
    known?.assertUsable();
    return read(known);
  }
  const cards = new (modelCards())({ path: modelsPath(red), service: key });
  try {
    cards.assertUsable();
    return await read(cards);
  } finally {
    await cards.close();
  }
}

function embeddedState(red: Red): ConfigState | undefined {
  return defaultState() ?? services(red).find(({ kind }) => kind === 'embedded')?.state;
}
