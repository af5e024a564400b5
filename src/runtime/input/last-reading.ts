/** A reading as it was read from a message, for the dialog. */
export interface LastReading {
  /** The name of the shape that the message has; undefined where it was read plainly. */
  shape?: string;
  key?: string;
  /** In ISO 8601, or as the message has it; undefined: that of its arrival. */
  time?: string;
  values: Record<string, unknown>;
  /** How many readings the message had. */
  readings: number;
}

const last = new Map<string, LastReading>();

/** The last message of a node, as it was read. */
export function lastReading(nodeId: string): LastReading | undefined {
  return last.get(nodeId);
}

export function rememberReading(nodeId: string, reading: LastReading): void {
  last.set(nodeId, reading);
}

export function forgetReading(nodeId: string): void {
  last.delete(nodeId);
}
