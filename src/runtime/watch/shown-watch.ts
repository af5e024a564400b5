import type { WatchChange, WatchReport } from '../../watch';

/** What the editor gets to know of a model. */
export interface ShownWatch extends Omit<WatchReport, 'changes'> {
  changes: (WatchChange & { text: string })[];
  /** What the newest prediction rests on, where its predict node said why. */
  causes?: readonly unknown[];
}

/** A watch node, as the editor asks it. */
export interface ShowsWatch {
  /** Key of the service whose models are watched; undefined where none of them is known yet. */
  readonly service: string | undefined;
  shown(model: string): ShownWatch | undefined;
}

/** All watch nodes that are there: each enters with its start and leaves as it is closed. */
export const showing = new Set<ShowsWatch>();

/**
 * What the watch nodes know of a model; where several watch it, the one with the most outcomes.
 *
 * @param service key of the service that has the model; left out: of any
 */
export function shownWatch(model: string, service?: string): ShownWatch | undefined {
  return [...showing]
    .filter((node) => service === undefined || node.service === service)
    .flatMap((node) => node.shown(model) ?? [])
    .sort((a, b) => b.live.rows - a.live.rows)[0];
}
