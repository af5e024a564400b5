import { createRequire } from 'node:module';

import { lazy } from '../util/lazy';

const load = createRequire(__filename);

/** The schemas, and TypeBox with them, are loaded with the first body. */
export const schemas = lazy(() => load('./schemas') as typeof import('./schemas'));
