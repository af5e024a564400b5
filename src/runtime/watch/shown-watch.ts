import type { WatchChange, WatchReport } from '../../watch';

/** What the editor gets to know of a model. */
export interface ShownWatch extends Omit<WatchReport, 'changes'> {
  changes: (WatchChange & { text: string })[];
  /** It looks worse than promised, but that is not sure. */
  unsure?: true;
  /** What the newest prediction rests on, where its predict node said why. */
  causes?: readonly unknown[];
}

/** A watch node, as the editor asks it. */
export interface ShowsWatch {
  /** Key of the service whose models are watched; undefined where none of them is known yet. */
  readonly service: string | undefined;
  shown(model: string): ShownWatch | undefined;
}

/** Of fewer outcomes nothing is told. */
const ENOUGH_OUTCOMES = 30;
/** A loss that is higher than promised by more than this looks worse. */
const LOOKS_WORSE = 1.25;

/** Whether a model does worse than promised in what is counted so far, without being sure of it. */
export function looksWorse({ live, decayed }: Pick<WatchReport, 'live' | 'decayed'>): boolean {
  const { rows, loss = 0, promised = Infinity } = live;
  return !decayed && rows >= ENOUGH_OUTCOMES && loss > LOOKS_WORSE * promised;
}

/** How many machines and steps ahead have an alarm that has not been cleared. */
export function activeAlarms(changes: readonly WatchChange[]): number {
  const raised = new Map<string, boolean>();
  for (const { what, key, ahead } of changes) {
    if (what === 'alarm' || what === 'cleared') {
      raised.set(JSON.stringify([key, ahead]), what === 'alarm');
    }
  }
  return [...raised.values()].filter(Boolean).length;
}

/** All watch nodes that are there: each enters with its start and leaves as it is closed. */
export const showing = new Set<ShowsWatch>();

/**
 * What the watch nodes know of a model; where several watch it, the one with the most outcomes.
 *
 * @param service key of the service that has the model; left out: of any
 */
export function shownWatch(model: string, service?: string): ShownWatch | undefined {
  const [most] = [...showing]
    .filter((node) => service === undefined || node.service === service)
    .flatMap((node) => node.shown(model) ?? [])
    .sort((a, b) => b.live.rows - a.live.rows);
  return most && { ...most, ...(looksWorse(most) && { unsure: true as const }) };
}
