export { showKept } from '../input/columns-seen';
export { seriesAnswer } from './answer';
export { SeriesKeeper } from './keeper';
export { MixedTopics } from './mixed-topics';
export { PastSender } from './past-sender';
export { ReadMessages } from './read-messages';
export { seriesRequest } from './request';
export { keptSeries } from './status';
