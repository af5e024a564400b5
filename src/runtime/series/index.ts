export { seriesAnswer } from './answer';
export { SeriesKeeper } from './keeper';
export { showKeptSeries } from './kept-state';
export { MixedTopics } from './mixed-topics';
export { seriesRequest } from './request';
