export { ReadMessages } from '../series/read-messages';
export { AnomalyAnswers } from './answer';
export { AnomalyKeeper } from './keeper';
export { showKeptAnomalies } from './kept-state';
export { anomalyRequest } from './request';
export { listedNodes, showInSidebar, shownNode } from './shown-nodes';
