export { watchAnswer } from './answer';
export { WatchKeeper } from './keeper';
export { watchRequest } from './request';
export { shownWatch } from './shown-watch';
export { followModel, showKeptWatch } from './status';
