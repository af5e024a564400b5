import { createRequire } from 'node:module';

/** Loaded with the first request: Node-RED loads every node of the package at startup, and that must stay fast. */
const load = createRequire(__filename);

export const models = () => load('./listed-models') as typeof import('./listed-models');
export const advice = () => load('./find-setting') as typeof import('./find-setting');
