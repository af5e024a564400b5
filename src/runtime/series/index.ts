export { seriesAnswer } from './answer';
export { SeriesKeeper } from './keeper';
export { showKeptSeries } from './kept-state';
export { MixedTopics } from './mixed-topics';
export { PastSender } from './past-sender';
export { ReadMessages } from './read-messages';
export { seriesRequest } from './request';
