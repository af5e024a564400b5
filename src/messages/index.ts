export { addRests, flatTable, readingsByPlainNames, type Rests } from './flat-table';
export { MessageReader, type MessageSettings } from './message-reader';
export type { MessageNote } from './notes';
export { shapeOfColumns } from './recognise';
export { timeAmong, timeTexts } from './times';
export { TopicPattern } from './topic-pattern';
export type { MessageReading, ReadMessage, SourceMessage } from './types';
