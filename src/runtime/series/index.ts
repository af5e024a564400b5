export { showKept } from '../input/columns-seen';
export { seriesAnswer } from './answer';
export { keptSeries, SeriesKeeper } from './keeper';
export { PastSender } from './past-sender';
export { MixedTopics, ReadMessages } from './read-messages';
export { seriesRequest } from './request';
