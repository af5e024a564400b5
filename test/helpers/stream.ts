import type { RealNodeRed } from './node-red';

/** A run of the stream nodes in `stream-nodes/`. */
interface StreamOptions {
  count: number;
  /** Messages under way at a time, at most. */
  window: number;
  /** Tells what each tabular-predict node took, sent and completed. */
  watch?: boolean;
}

/** Has the source of a real Node-RED send so many messages. */
export async function startStream(red: RealNodeRed, options: StreamOptions): Promise<void> {
  await fetch(`${red.url}/stream/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(options),
  });
}

/** The same, and waits until all have arrived. Answers the milliseconds that it took. */
export async function streamThrough(red: RealNodeRed, options: StreamOptions): Promise<number> {
  await startStream(red, options);
  for (;;) {
    const times = (await (await fetch(`${red.url}/stream/times`)).json()) as {
      finished: boolean;
      ms: number;
    };
    if (times.finished) {
      return times.ms;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
