/** What the file system says when the service's folder is full, or must not be used. */
const LASTING = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG', 'ENOTDIR']);
/** Somebody has deleted what the service works with. It makes folders anew, and knows afterwards what was lost. */
export const DELETED = 'ENOENT';
/** What it says in a moment of trouble: too many open files, a disk or a network drive that does not answer. */
const PASSING = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'EAGAIN',
  'EBUSY',
  'ESTALE',
  'ENOMEM',
  'ENXIO',
  'ENODEV',
]);
/** Permissions may be wrong for a moment as well: reads are tried again, and never mean that a file is damaged. */
const PASSING_FOR_READERS = new Set([...PASSING, 'EACCES', 'EPERM', 'ENOTDIR', 'ELOOP']);

/** The code of an error of the file system. Connections have errors of the same shape, with other codes. */
export function fileSystemCode(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  // WebAssembly hands on the text alone.
  const found = code ?? /(?:^|Error: )(E[A-Z]{2,9}): /.exec(message ?? String(error))?.[1];
  const isKnown = LASTING.has(found!) || PASSING_FOR_READERS.has(found!) || found === DELETED;
  return isKnown ? found : undefined;
}

/** Did the file system refuse? */
export function isStorageFailure(error: unknown): boolean {
  return fileSystemCode(error) !== undefined;
}

/** Did it refuse to write, where reading goes on? The disk is full, or read only. */
export function cannotWrite(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'].includes(fileSystemCode(error) ?? '');
}

/** Did it refuse only for a moment, so that the same request may be sent again? */
export function isPassingFailure(error: unknown): boolean {
  return PASSING.has(fileSystemCode(error) ?? '');
}

/** May a file that could not be read with this code be read later? */
export function isPassing(code: string): boolean {
  return PASSING_FOR_READERS.has(code);
}
