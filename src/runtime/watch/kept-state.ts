import fs from 'node:fs';

import type { FlowNode, Red } from '../node-red';
import { watchFile } from '../paths';
import { StatusLine, whenStarted } from '../status/status-line';
import type { WatchKeeper } from './keeper';
import { watchStatus } from './status';

/**
 * Once the flows have started: what the node kept is read and shown. Where nothing is kept, or a field is wrong, the
 * first message will tell.
 */
export function showKeptWatch(red: Red, node: FlowNode, keeper: WatchKeeper): void {
  whenStarted(red, node, () => {
    void show().catch(() => undefined);
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(watchFile(red, node.id))) {
      return;
    }
    const watches = await keeper.all();
    keeper.noteInCharge(watches);
    const newest = watches.at(-1);
    if (newest !== undefined) {
      StatusLine.of(node, red).showIdle(watchStatus(red, newest.report(), watches.length > 1));
    }
  }
}
