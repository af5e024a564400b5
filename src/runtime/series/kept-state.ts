import fs from 'node:fs';

import { addColumns } from '../input/columns-seen';
import type { FlowNode, Red } from '../node-red';
import { StatusLine } from '../status/status-line';
import { whenStarted } from '../status/when-started';
import type { SeriesKeeper } from './keeper';
import { seriesStatus } from './status';

/**
 * Once the flows have started: what the node kept is opened and shown. Where nothing is kept, or it cannot be opened,
 * the first message will tell.
 */
export function showKeptSeries(red: Red, node: FlowNode, keeper: SeriesKeeper): void {
  whenStarted(red, node, () => {
    void show().catch(() => undefined);
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(keeper.folder())) {
      return;
    }
    const { progress } = await keeper.open();
    const { kind, key, values, progress: numbers } = seriesStatus(progress);
    StatusLine.of(node, red).showIdle(key, values, kind, numbers);
    addColumns(node.id, progress.columns);
  }
}
