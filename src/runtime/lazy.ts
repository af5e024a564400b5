import { createRequire } from 'node:module';

/**
 * The layers below, loaded with the first message: Node-RED loads every node of the package at its start, and
 * that is to stay unnoticed.
 */
const load = createRequire(__filename);

export const scoring = (): typeof import('../scoring') => load('../scoring') as typeof import('../scoring');

/** The model cards alone, which a node that starts shows something of. */
export const modelCards = (): typeof import('../scoring/models/model-cards').ModelCards =>
  (load('../scoring/models/model-cards') as typeof import('../scoring/models/model-cards')).ModelCards;

export const table = (): typeof import('../table') => load('../table') as typeof import('../table');
