import type { FittedModel } from '../../types';
import type { ServiceSection } from './card-sections';
import type { FormerModel } from './versioned-model';

/** Models that are remembered until the service has removed them. */
const MAX_FORMER = 500;

/** Notes that models are no longer needed. A model takes the place of its train set, which was noted before its fit. */
export function addFormer(section: ServiceSection, gone: readonly FormerModel[]): void {
  const uploads = new Set(gone.map(({ upload }) => upload));
  const others = section.former.filter(({ fitted }) => !uploads.has(fitted));
  section.former = [...gone, ...others].slice(0, MAX_FORMER);
}

/**
 * Notes the train sets that a fit had uploaded and no model is of, with what was fitted of them: the process was killed
 * before it had kept the card. Only while no fit is under way.
 */
export function noteAbandoned(section: ServiceSection): void {
  const known = new Set([
    ...meantModels(section).map((card) => card.train_set_upload_id),
    ...section.former.map(({ upload }) => upload),
  ]);
  const abandoned = [...section.uploads.values()].filter(
    ({ id, by_fit: byFit }) => byFit === true && !known.has(id),
  );
  section.former.push(...abandoned.map(({ id }) => ({ fitted: id, upload: id })));
}

/** The versions of all names, and fits under way. */
function meantModels({ models, pending }: ServiceSection): FittedModel[] {
  return [
    ...[...models.values()].flatMap(({ versions }) => versions.map(({ card }) => card)),
    ...[...pending.values()].map(({ card }) => card),
  ];
}

/** Ids of the models that any name means, or that are being fitted. */
export function meantIds(section: ServiceSection): Set<string> {
  return new Set(meantModels(section).map((card) => card.fitted_train_set_id));
}

/** Those of some models that no name means any more. */
export function unmeant(section: ServiceSection, ids: readonly string[]): string[] {
  if (ids.length === 0) {
    return [];
  }
  const kept = meantIds(section);
  return ids.filter((id) => !kept.has(id));
}

/**
 * Models that no version of any name refers to and nobody uses now. `upload` is left out where the
 * train set stays: other models are of it, or somebody has uploaded it on purpose.
 */
export function superfluous(
  section: ServiceSection,
  isHeld: (id: string) => boolean,
): { fitted: string; upload?: string }[] {
  const { uploads, former } = section;
  const kept = meantModels(section);
  const keptModels = new Set(kept.map(({ fitted_train_set_id: id }) => id));
  const keptUploads = new Set(kept.map(({ train_set_upload_id: id }) => id));
  return former
    .filter(({ fitted }, at) => former.findIndex((other) => other.fitted === fitted) === at)
    .filter(({ fitted }) => !keptModels.has(fitted) && !isHeld(fitted))
    .flatMap(({ fitted, upload }) => {
      const goes = uploads.get(upload)?.by_fit === true && !keptUploads.has(upload) && !isHeld(upload);
      return goes ? [{ fitted, upload }] : fitted === upload ? [] : [{ fitted }];
    });
}
