export { watchAnswer } from './answer';
export { followModel } from './follow-model';
export { WatchKeeper } from './keeper';
export { showKeptWatch } from './kept-state';
export { watchOptions, watchRequest } from './request';
export { shownWatch } from './shown-watch';
