/** What tests reach of src/messages beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export {
  type MessageNote,
  MessageReader,
  type MessageReading,
  type MessageSettings,
  type SourceMessage,
  TopicPattern,
} from '../../dist/src/messages';
export { flatten } from '../../dist/src/messages/flatten';
export { SHAPES } from '../../dist/src/messages/shapes';
