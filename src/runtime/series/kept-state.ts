import fs from 'node:fs';

import { toServiceError } from '../../wire/service-error';
import { addColumns } from '../input/columns-seen';
import type { FlowNode, Red } from '../node-red';
import { StatusLine } from '../status/status-line';
import { whenStarted } from '../status/when-started';
import type { SeriesKeeper } from './keeper';
import { seriesStatus } from './status';

/**
 * Once the flows have started: what the node kept is opened and shown. Where it cannot be opened, the code of the error
 * is shown; the first message will tell the rest. Nothing is shown where nothing is kept.
 */
export function showKeptSeries(red: Red, node: FlowNode, keeper: SeriesKeeper): void {
  whenStarted(red, node, () => {
    void show().catch((error: unknown) => StatusLine.of(node, red).fail(toServiceError(error).code));
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(keeper.folder())) {
      return;
    }
    const { progress } = await keeper.open();
    StatusLine.of(node, red).showIdle(seriesStatus(progress));
    addColumns(node.id, progress.columns);
  }
}
