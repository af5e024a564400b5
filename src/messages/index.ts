export { flatTable } from './flatten';
export { MessageReader, type MessageSettings } from './message-reader';
export { TopicPattern } from './paths';
export { shapeOfColumns } from './recognise';
export { timeAmong } from './times';
export type { MessageNote } from './types';
export type { MessageReading, ReadMessage, SourceMessage } from './types';
