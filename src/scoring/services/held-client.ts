import { setTimeout as sleep } from 'node:timers/promises';

import type { ServiceCalls } from './service-calls';

/** How long `close` waits for a client that is being made. */
const OPENING_MS = 2000;

/** The one client of a service, made when it is first needed. */
export class HeldClient<Client extends ServiceCalls> {
  private opened: Promise<Client> | undefined;
  /** Clients of a service that has moved: what was under way may still use them. */
  private readonly former = new Set<Promise<Client>>();

  constructor(private readonly open: () => Promise<Client>) {}

  /** One that could not be made is tried again at the next call. */
  get(): Promise<Client> {
    this.opened ??= this.open().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  /** The next call makes another one; this one is closed at the end. */
  leave(): void {
    if (this.opened !== undefined) {
      this.former.add(this.opened);
      this.opened = undefined;
    }
  }

  /** Closes all there ever were. One that is still being made closes itself when it is there. */
  async close(): Promise<void> {
    this.leave();
    const closed = [...this.former].map((opened) =>
      opened.then(
        (client) => client.close(),
        () => undefined,
      ),
    );
    await Promise.race([Promise.all(closed), sleep(OPENING_MS, undefined, { ref: false })]);
  }
}
