import fs from 'node:fs';

import { toServiceError } from '../../wire/service-error';
import { addColumns } from '../input/columns-seen';
import type { FlowNode, Red } from '../node-red';
import { StatusLine } from '../status/status-line';
import { whenStarted } from '../status/when-started';
import type { AnomalyKeeper } from './keeper';
import { anomalyStatus } from './status';

/** Once the flows have started: what the node knows is opened and shown. Nothing is shown where nothing is kept. */
export function showKeptAnomalies(red: Red, node: FlowNode, keeper: AnomalyKeeper): void {
  whenStarted(red, node, () => {
    void show().catch((error: unknown) => StatusLine.of(node, red).fail(toServiceError(error).code));
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(keeper.folder())) {
      return;
    }
    const anomalies = await keeper.open();
    StatusLine.of(node, red).showIdle(anomalyStatus(red, anomalies.progress, undefined, undefined));
    for (const machine of anomalies.known.values()) {
      addColumns(node.id, [...machine.columns.keys()]);
    }
  }
}
