/** What tests reach of src/util: a file that moves there is renamed here, and nowhere else. */
export { BoundedMap } from '../../dist/src/util/collections';
export {
  AbortWatch,
  linkedController,
  loadInParts,
  Semaphore,
  Serial,
  SliceSizer,
  untilAborted,
  Yielder,
  yieldToEventLoop,
} from '../../dist/src/util/concurrency';
export { parseDuration, showDuration } from '../../dist/src/util/durations';
export {
  assertWithoutLinks,
  isNewer,
  isOwnId,
  makeFolder,
  makeFolderSync,
  ownPath,
  readFully,
  readJsonFile,
  readOwnFile,
  writeAll,
  writeFileAtomic,
  writePieces,
} from '../../dist/src/util/files';
export { FolderInUse, type FolderLock, lockFolder } from '../../dist/src/util/folder-lock';
export { availableMemory, ownIdentity, type ProcessIdentity } from '../../dist/src/util/process';
export { seededRandom } from '../../dist/src/util/random';
export { KeptLock } from '../../dist/src/util/state-folder';
export {
  bare,
  cloneJson,
  isObject,
  parseJson,
  stringifyBare,
  tryParseJson,
} from '../../dist/src/util/values';
export { unzip, writeZip, zipBytes, type ZipEntry } from '../../dist/src/util/zip';
