/** What tests reach of src/runtime beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
import { SERVICE_KINDS } from '../../dist/src/models/service-kind';

export { sensorText, unusualText } from '../../dist/src/runtime/anomaly/texts';
export { ConfigState, proxyOptions, tlsOptions, tuning } from '../../dist/src/runtime/config/config-state';
export { editorRoutes } from '../../dist/src/runtime/editor-routes';
export {
  fromEnvironment,
  inside,
  insideOptions,
  readProperty,
  settingsReader,
} from '../../dist/src/runtime/fields/settings-reader';
export { columnNames, columnsSeen, forgetColumns } from '../../dist/src/runtime/input/columns-seen';
export { type Collected, Sequences, withoutSequence } from '../../dist/src/runtime/input/table-collector';
export { tableReader } from '../../dist/src/runtime/input/table-input';
export {
  handleMessages,
  type Handler,
  PATIENCE,
  unreadablePart,
} from '../../dist/src/runtime/messages/message-handler';
export { Follower } from '../../dist/src/runtime/messages/progress';
export { modelChanged, nodeChanged } from '../../dist/src/runtime/model-changed';
export type { FlowNode, Message, Red } from '../../dist/src/runtime/node-red';
export { NodeRuntime } from '../../dist/src/runtime/node-runtime';
export { filePath, modelsPath, OwnedPath, serviceFolder } from '../../dist/src/runtime/paths';
export { namedModel, requiredModel } from '../../dist/src/runtime/requests/common';
export { usedTokens } from '../../dist/src/runtime/requests/cost';
export {
  causeTexts,
  inWordsOfUser,
  type PredictDef,
  predictRequests,
} from '../../dist/src/runtime/requests/predict';
export { offerKeptUpload } from '../../dist/src/runtime/requests/upload';
export { SeriesKeeper } from '../../dist/src/runtime/series/keeper';
export { findReading } from '../../dist/src/runtime/series/read-messages';
export { keyOfTopic } from '../../dist/src/runtime/series/read-messages';
export { inUsualUnit, STATUS_WIDTH, widthOfText } from '../../dist/src/runtime/status/in-words';
export { withSharedArrays } from '../../dist/src/runtime/status/report';
export {
  Pace,
  showFitted,
  showStays,
  showVersion,
  StatusLine,
  timeText,
} from '../../dist/src/runtime/status/status-line';
export { watchStatus } from '../../dist/src/runtime/watch/answer';
export { KeptWatches } from '../../dist/src/runtime/watch/kept-watches';
export { changeText } from '../../dist/src/runtime/watch/shown-watch';
export const { address: serviceUrl } = SERVICE_KINDS.hosted;
export const { address: endpointUrl } = SERVICE_KINDS.onPrem;
