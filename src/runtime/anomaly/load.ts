import { createRequire } from 'node:module';

const load = createRequire(__filename);

/** What anomaly nodes do, loaded with the first of them: Node-RED loads every node of the package at startup. */
export const anomalyNodes = (): typeof import('.') => load('.') as typeof import('.');
