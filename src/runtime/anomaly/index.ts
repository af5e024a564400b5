export { showKept } from '../input/columns-seen';
export { MixedTopics, ReadMessages } from '../series/read-messages';
export { AnomalyAnswers } from './answer';
export { AnomalyKeeper, anomalyRequest } from './keeper';
export { listedNodes, showInSidebar, shownNode } from './shown-nodes';
export { keptAnomalies } from './texts';
