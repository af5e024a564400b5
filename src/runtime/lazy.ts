import { createRequire } from 'node:module';

/**
 * The layers below, loaded with the first message: Node-RED loads every node of the package at startup, and that
 * must stay fast.
 */
const load = createRequire(__filename);

export const scoring = (): typeof import('../connection') =>
  load('../connection') as typeof import('../connection');

/** The model cards alone: a starting node shows some of what they hold. */
export const modelCards = (): typeof import('../models/model-cards').ModelCards =>
  (load('../models/model-cards') as typeof import('../models/model-cards')).ModelCards;

export const table = (): typeof import('../table') => load('../table') as typeof import('../table');

export const watchLayer = (): typeof import('../watch') => load('../watch') as typeof import('../watch');

export const messagesLayer = (): typeof import('../messages') =>
  load('../messages') as typeof import('../messages');

export const seriesLayer = (): typeof import('../series') => load('../series') as typeof import('../series');

export const anomalyLayer = (): typeof import('../anomaly') =>
  load('../anomaly') as typeof import('../anomaly');
