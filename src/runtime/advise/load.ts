import { createRequire } from 'node:module';

const load = createRequire(__filename);

/** What advise nodes do, loaded with the first of them: Node-RED loads every node of the package at startup. */
export const adviseNodes = (): typeof import('.') => load('.') as typeof import('.');
