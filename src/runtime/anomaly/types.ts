import type { FlowProperties } from '../../settings/kinds';
import type { ANOMALY } from '../../settings/nodes';
import type { FlowNodeDef } from '../node-red';
import type { SeriesRequest } from '../series/read-messages';

/** The anomaly node as it stands in a flow file. */
export type AnomalyDef = FlowNodeDef & FlowProperties<typeof ANOMALY>;

/** What a message asks of the anomaly node. */
export type AnomalyRequest =
  | Extract<SeriesRequest, { kind: 'nothing' | 'reset' | 'reading' | 'readings' | 'table' }>
  | { kind: 'confirm'; answer: 'real' | 'usual'; id?: string; key?: string }
  | { kind: 'odd'; answer: 'usual' | 'faults'; key?: string };
