import { createRequire } from 'node:module';

const load = createRequire(__filename);

/** What series nodes do, loaded with the first of them: Node-RED loads every node of the package at startup. */
export const seriesNodes = (): typeof import('.') => load('.') as typeof import('.');
