export { flatTable } from './flat-table';
export { type MessageNote, MessageReader, type MessageSettings } from './message-reader';
export { shapeOfColumns } from './recognise';
export { timeAmong } from './times';
export { TopicPattern } from './topic-pattern';
export type { MessageReading, ReadMessage, SourceMessage } from './types';
