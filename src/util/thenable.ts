/** True for a promise, of this realm or another, and for whatever `await` would take for one. */
export function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
