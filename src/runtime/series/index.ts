export { seriesAnswer } from './answer';
export { SeriesKeeper } from './keeper';
export { showKeptSeries } from './kept-state';
export { seriesRequest } from './request';
