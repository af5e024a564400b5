export { followModel, showKeptWatch, watchAnswer } from './answer';
export { WatchKeeper } from './keeper';
export { watchRequest } from './request';
export { shownWatch } from './shown-watch';
