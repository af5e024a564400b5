export { showKept } from '../input/columns-seen';
export { ReadMessages } from '../series/read-messages';
export { AnomalyAnswers } from './answer';
export { AnomalyKeeper } from './keeper';
export { anomalyRequest } from './request';
export { listedNodes, showInSidebar, shownNode } from './shown-nodes';
export { keptAnomalies } from './texts';
