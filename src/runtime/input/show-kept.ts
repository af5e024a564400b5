import fs from 'node:fs';

import { toServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';
import { type Shown, type StatusKind, StatusLine, whenStarted } from '../status/status-line';
import { addColumns } from './columns-seen';

/** What a node kept, once it is open: its status, and the columns that dialogs offer. */
export interface KeptShown {
  status: Shown & { kind: StatusKind };
  columns: readonly string[];
}

/**
 * Once the flows have started: what the node kept is opened and shown. Where it cannot be opened, the code of the error
 * is shown; the first message will tell the rest. Nothing is shown where nothing is kept.
 */
export function showKept<Opened>(
  red: Red,
  node: FlowNode,
  keeper: { folder(): string; open(): Promise<Opened> },
  shownOf: (opened: Opened) => KeptShown,
): void {
  whenStarted(red, node, () => {
    void show().catch((error: unknown) => StatusLine.of(node, red).fail(toServiceError(error).code));
  });

  async function show(): Promise<void> {
    if (!fs.existsSync(keeper.folder())) {
      return;
    }
    const { status, columns } = shownOf(await keeper.open());
    StatusLine.of(node, red).showIdle(status);
    addColumns(node.id, columns);
  }
}
