export * from './trees.as';
export { searchCategories, searchOrdered, searchRows } from './splits.as';
export * from './gaussian.as';
export * from './slopes.as';
export * from './quick-scorer.as';
export { addBlocks, addBlocksOfClasses } from './blocks.as';
export * from './coalitions.as';
export * from './products.as';
