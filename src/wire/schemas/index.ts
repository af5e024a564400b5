/** Every schema of the wire. Loading this loads typebox (tens of milliseconds): use `lazy` from nodes' start-up paths. */
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
