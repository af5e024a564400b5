import os from 'node:os';

/** Address space that a 32-bit process can count on, whatever the machine has. */
const SMALL_ADDRESSES = 2 ** 31;
const SMALL_ARCHITECTURES = new Set(['arm', 'ia32', 'mips', 'mipsel', 'ppc', 's390']);

/**
 * Bytes of memory that this process may count on: those of the machine, or of its container if that has less.
 *
 * @param constrained as `process.constrainedMemory()` says: 0 or a huge number where nothing binds
 */
export function availableMemory(
  total = os.totalmem(),
  constrained = process.constrainedMemory(),
  arch: string = process.arch,
): number {
  const own = SMALL_ARCHITECTURES.has(arch) ? Math.min(total, SMALL_ADDRESSES) : total;
  return constrained > 0 ? Math.min(constrained, own) : own;
}
