import type { CardRecord, FormerModel, ServiceSection } from './card-file';

/** Models that are kept under a name: the one in charge and those before it. */
export const KEPT_VERSIONS = 5;

/** Models before that are remembered until the service has removed them. */
const MAX_FORMER = 50;

/** The models that stood under a name before this one, the newest first. */
export function formerAfter(before: CardRecord, fittedId: string): FormerModel[] {
  const { fitted_train_set_id: fitted, train_set_upload_id: upload } = before.card;
  const list = [{ fitted, upload }, ...(before.former ?? [])];
  return list
    .filter((one, at) => one.fitted !== fittedId && list.findIndex(isSame(one)) === at)
    .slice(0, MAX_FORMER);
}

/** Models under a name, those before them that are kept, and fits under way: ids, and what their train sets are. */
function meantModels({ models, pending }: ServiceSection): FormerModel[] {
  return [
    ...[...models.values()].flatMap(({ card, former = [] }) => [
      { fitted: card.fitted_train_set_id, upload: card.train_set_upload_id },
      ...former.slice(0, KEPT_VERSIONS - 1),
    ]),
    ...[...pending.values()].map(({ card }) => ({
      fitted: card.fitted_train_set_id,
      upload: card.train_set_upload_id,
    })),
  ];
}

/** Those of some models that no name means any more. */
export function unmeant(section: ServiceSection, ids: readonly string[]): string[] {
  if (ids.length === 0) {
    return [];
  }
  const kept = new Set(meantModels(section).map(({ fitted }) => fitted));
  return ids.filter((id) => !kept.has(id));
}

/**
 * Former models beyond those that are kept, which no other name means and nobody uses now. `upload` is left out where
 * the train set stays: other models are of it, or somebody has uploaded it on purpose.
 */
export function superfluous(
  section: ServiceSection,
  isHeld: (id: string) => boolean,
): { fitted: string; upload?: string }[] {
  const { models, uploads } = section;
  const kept = meantModels(section);
  const keptModels = new Set(kept.map(({ fitted }) => fitted));
  const keptUploads = new Set(kept.map(({ upload }) => upload));
  return [...models.values()]
    .flatMap(({ former = [] }) => former.slice(KEPT_VERSIONS - 1))
    .filter((one, at, all) => all.findIndex(isSame(one)) === at)
    .filter(({ fitted }) => !keptModels.has(fitted) && !isHeld(fitted))
    .map(({ fitted, upload }) => {
      const goes = uploads.get(upload)?.by_fit === true && !keptUploads.has(upload) && !isHeld(upload);
      return goes ? { fitted, upload } : { fitted };
    });
}

function isSame(one: FormerModel): (other: FormerModel) => boolean {
  return (other) => other.fitted === one.fitted;
}
