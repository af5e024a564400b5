/** Every schema of the wire: a dozen files, so nodes load them with the first body (`load-schemas.ts`). */
export { ModelConfigSchema } from './common';
export * from './estimate-cost';
export * from './file-info';
export * from './fit';
export * from './legacy-predict';
export * from './model-limits';
export * from './predict';
export * from './prepare-test-set-upload';
export * from './prepare-train-set-upload';
export * from './settings';
