export type { ClientPort } from './client-port';
export { cloneJson } from './clone-json';
export { checkAsking, checkSettings, checkTraining } from './check-request';
export { Connection, type ConnectionOptions } from './connection';
export { ModelCards, type ModelCardsOptions } from './model-cards';
export { Predictor } from './predictor';
export type * from './types';
