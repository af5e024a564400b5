import { createRequire } from 'node:module';

import { yieldToEventLoop } from '../util/event-loop';
import { lazy } from '../util/lazy';
import { loadInParts } from '../util/load-in-parts';
import { check } from './check';

const load = createRequire(__filename);

/** The schemas, and TypeBox with them, are loaded with the first body. */
export const schemas = lazy(() => load('./schemas') as typeof import('./schemas'));

/** Of TypeBox, each with what it adds to those before it: in one piece they take 80 ms to load. */
const PARTS = ['system', 'errors', 'compiler'].map((part) => `@sinclair/typebox/${part}`);

/** Loads the schemas and what checks bodies by them, without holding the event loop for all of it. */
export const warmSchemas = lazy(async () => {
  await loadInParts(load, [...PARTS, '@sinclair/typebox']);
  const { EstimateCostResponseSchema } = schemas();
  await yieldToEventLoop();
  check(EstimateCostResponseSchema, {});
});
