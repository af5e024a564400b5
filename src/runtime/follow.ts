import type { Hooks, StatusEvent } from '../scoring/types';
import type { Work } from './attach';
import type { FlowNode } from './node-red';
import type { StatusLine } from './status-line';

/** The hooks by which one message's work shows itself under the node and is stopped with it. */
export function hooks(node: FlowNode, work: Work, onStatus = showStatus): Hooks {
  return {
    signal: work.signal,
    onStatus: (event) => onStatus(work.status, event),
    onWarning: (warning) => node.warn(warning),
  };
}

function showStatus(status: StatusLine, event: StatusEvent): void {
  switch (event.key) {
    case 'uploading':
      status.show('busy', 'uploading', { percent: Math.floor(event.percent) });
      break;
    case 'fitting':
      status.show('busy', 'fitting', { seconds: Math.floor(event.seconds) });
      break;
    default:
      status.show('busy', event.key);
  }
}
