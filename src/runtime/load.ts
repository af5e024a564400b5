import { createRequire } from 'node:module';

/**
 * What the nodes of one kind do, loaded with the first of them, and what the sidebar fetches, with its first request:
 * Node-RED loads every node of the package at startup, and that must stay fast.
 */
const load = createRequire(__filename);

export const seriesNodes = (): typeof import('./series') => load('./series') as typeof import('./series');
export const anomalyNodes = (): typeof import('./anomaly') => load('./anomaly') as typeof import('./anomaly');
export const watchNodes = (): typeof import('./watch') => load('./watch') as typeof import('./watch');
export const adviseNodes = (): typeof import('./advise') => load('./advise') as typeof import('./advise');

export const models = () => load('./sidebar/listed-models') as typeof import('./sidebar/listed-models');
export const advice = () => load('./sidebar/find-setting') as typeof import('./sidebar/find-setting');
