export * from './trees.as';
export { searchCategories, searchOrdered, searchRows } from './splits.as';
export * from './gaussian.as';
export * from './slopes.as';
export * from './quick-scorer.as';
export * from './blocks.as';
export * from './products.as';
