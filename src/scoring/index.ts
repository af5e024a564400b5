export { cloneJson } from '../util/json';
export { checkAsking, checkSettings, checkTraining } from './check-request';
export { Connection, type ConnectionOptions } from './connection';
export type { ClientPort } from './context/client-port';
export { ModelCards, type ModelCardsOptions } from './models/model-cards';
export { Predictor } from './predict/predictor';
export type * from './types';
