import type { MessageReading } from '../../messages';
import type { TableInput } from '../../models/types';
import type { BroughtOutcome } from '../../series';
import type { FlowProperties, SERIES } from '../../settings';
import type { Reading } from '../input/reading';
import type { FlowNodeDef } from '../node-red';

/** The series node as it stands in a flow file. */
export type SeriesDef = FlowNodeDef & FlowProperties<typeof SERIES>;

/** What a message asks of the series node. */
export type SeriesRequest =
  | { kind: 'nothing' }
  | { kind: 'train'; reason: 'asked' | 'decay' }
  | { kind: 'reset'; key?: string }
  | { kind: 'outcome'; brought: BroughtOutcome }
  | { kind: 'reading'; reading: Reading; key?: string }
  /** Readings of a message that was read by its shape. */
  | { kind: 'readings'; readings: MessageReading[]; shape?: string }
  /** A table; its rows, where the message was read by its shape. */
  | { kind: 'table'; table: TableInput; key?: string; rows?: AsyncIterable<MessageReading>; shape?: string };
