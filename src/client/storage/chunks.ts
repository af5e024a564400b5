/** One part of a file: bytes `start` to `end` (exclusive). */
export interface Chunk {
  start: number;
  end: number;
}

/**
 * How a file of `bytes` bytes is cut for `count` signed URLs: floor(bytes / count) each, and the last takes the
 * rest. The server decides the count.
 */
export function planChunks(bytes: number, count: number): Chunk[] {
  const size = Math.floor(bytes / count);
  return Array.from({ length: count }, (_, i) => ({
    start: i * size,
    end: i === count - 1 ? bytes : (i + 1) * size,
  }));
}

/** Runs jobs, at most `limit` at a time; after the first failure no new one starts, and it is thrown. */
export async function inParallel(jobs: readonly (() => Promise<void>)[], limit: number): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < jobs.length && !failed) {
      const job = jobs[next]!;
      next += 1;
      try {
        await job();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, jobs.length) }, worker));
}
