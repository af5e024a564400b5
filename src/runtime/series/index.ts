export { showKept } from '../input/columns-seen';
export { PastSender, seriesAnswer } from './answer';
export { keptSeries, SeriesKeeper } from './keeper';
export { MixedTopics, ReadMessages } from './read-messages';
export { seriesRequest } from './request';
