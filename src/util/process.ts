import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';

/** Which process has a folder: enough to find out later, on the same host, whether it still runs. */
export interface ProcessIdentity {
  pid: number;
  /** Hostname, for messages. */
  host: string;
  /** Where its pid means something: on Linux this boot of the kernel and its pid namespace, elsewhere the host. */
  scope: string;
  /** When it started, by the kernel's clock; empty where the system does not tell. Pids are used again. */
  started: string;
  /** Made once per process: its threads share it. */
  token: string;
}

/** @param token of this process, made once */
export function ownIdentity(token: string): ProcessIdentity {
  return {
    pid: process.pid,
    host: os.hostname(),
    scope: ownScope(),
    started: readStart(process.pid) ?? '',
    token,
  };
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  const { pid, host, scope, started, token } = (value ?? {}) as Partial<
    Record<keyof ProcessIdentity, unknown>
  >;
  return typeof pid === 'number' && [host, scope, started, token].every((text) => typeof text === 'string');
}

/**
 * Whether a process is gone: `surely` where its pid could be looked up in this very boot and namespace, `probably`
 * where only the host's name says that it ran here, `unknown` where it may run.
 */
export function isGone(other: ProcessIdentity): 'surely' | 'probably' | 'unknown' {
  if (other.scope !== ownScope()) {
    return 'unknown';
  }
  const sure = isLinux ? 'surely' : 'probably';
  if (isLinux && other.started !== '' && readStart(other.pid) !== other.started) {
    return sure;
  }
  try {
    process.kill(other.pid, 0);
    return 'unknown';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? sure : 'unknown';
  }
}

const isLinux = process.platform === 'linux';

function ownScope(): string {
  if (!isLinux) {
    return os.hostname();
  }
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return os.hostname();
  }
}

/** Clock ticks from the boot to the start of a process: field 22 of `/proc/<pid>/stat`. */
function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in field 2 is in brackets and may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

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
