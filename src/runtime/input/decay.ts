import type { Message } from '../node-red';

/** Whether a message comes of the decay of a model: from a watch node, or with the train set that a series node sent for it. */
export function isDecay({ train, change }: Message): boolean {
  const words = [train, change].map((told) => (told ?? {}) as { reason?: unknown; what?: unknown });
  return words.some(({ reason, what }) => reason === 'decay' || what === 'decay');
}
