import { createRequire } from 'node:module';

import { lazy } from '../util/concurrency';

/**
 * The layers below, loaded with the first message: Node-RED loads every node of the package at startup, and that
 * must stay fast. Each is looked up once: a message asks for several.
 */
const load = createRequire(__filename);

export const scoring = lazy(() => load('../connection') as typeof import('../connection'));

/** The model cards alone: a starting node shows some of what they hold. */
export const modelCards = lazy(
  () => (load('../models/model-cards') as typeof import('../models/model-cards')).ModelCards,
);

export const table = lazy(() => load('../table') as typeof import('../table'));

export const watchLayer = lazy(() => load('../watch') as typeof import('../watch'));

export const messagesLayer = lazy(() => load('../messages') as typeof import('../messages'));

export const seriesLayer = lazy(() => load('../series') as typeof import('../series'));

export const anomalyLayer = lazy(() => load('../anomaly') as typeof import('../anomaly'));
