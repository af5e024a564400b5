/** What tests reach of src/util: a file that moves there is renamed here, and nowhere else. */
export { AbortWatch, linkedController, untilAborted } from '../../dist/src/util/abort';
export { readJsonFile, writeFileAtomic } from '../../dist/src/util/atomic-file';
export { BoundedMap } from '../../dist/src/util/bounded-map';
export { SliceSizer, Yielder, yieldToEventLoop } from '../../dist/src/util/event-loop';
export { bare, parseJson, stringifyBare } from '../../dist/src/util/exact-json';
export { readFully, writeAll, writePieces } from '../../dist/src/util/file-io';
export { FolderInUse, type FolderLock, lockFolder } from '../../dist/src/util/folder-lock';
export { cloneJson, isObject, tryParseJson } from '../../dist/src/util/json';
export { KeptLock } from '../../dist/src/util/kept-lock';
export { loadInParts } from '../../dist/src/util/load-in-parts';
export { availableMemory } from '../../dist/src/util/memory';
export { assertWithoutLinks, isNewer, isOwnId, ownPath, readOwnFile } from '../../dist/src/util/own-files';
export { ownIdentity, type ProcessIdentity } from '../../dist/src/util/process-identity';
export { seededRandom } from '../../dist/src/util/random';
export { Semaphore } from '../../dist/src/util/semaphore';
export { Serial } from '../../dist/src/util/serial';
export { unzip } from '../../dist/src/util/unzip';
export { zipBytes, type ZipEntry, zipOf } from '../../dist/src/util/zip';
