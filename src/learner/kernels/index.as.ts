/*
 * What the kernels export: the build writes their types for TypeScript from here (`bytes.d.ts`). Parameters without a note are
 * addresses or lengths in bytes; where one array is given as a range, the second address is behind its last element. Rows are
 * given as addresses of their indices.
 */
export * from './trees.as';
export { searchCategories, searchOrdered, searchRows } from './splits.as';
export * from './gaussian.as';
export * from './slopes.as';
export * from './quick-scorer.as';
export * from './blocks.as';
export * from './products.as';
