import path from 'node:path';

import { Serial } from '../../../util/serial';
import { ReferenceFiles } from '../../reference/reference-files';
import { CardFile } from './card-file';
import { newSection, type ServiceSection } from './card-sections';
import { FitsUnderWay } from './fits-under-way';
import { addFormer, meantIds, unmeant } from './former-models';
import { NamedModels } from './named-models';
import type { KeptVersion } from './versioned-model';

/** The folder, next to the file of the cards, with the references of their train sets. */
const REFERENCES = 'references';

/** What the cards objects of one path and service share. */
export interface SharedCards {
  file: CardFile | undefined;
  section: ServiceSection;
  models: NamedModels;
  fits: FitsUnderWay;
  /** Removals from the service, and imports. */
  moves: Serial;
  /** How many use a model or a train set now, by its id. */
  held: Map<string, number>;
  references: ReferenceFiles;
}

const sharedByFile = new WeakMap<CardFile, Map<string, SharedCards>>();

/** What is known of a service's models in memory alone, by nobody else. */
export function cardsInMemory(service: string): SharedCards {
  return newShared(newSection(), new ReferenceFiles(undefined, service), undefined);
}

/** What is known of a service's models by a file, which is to be released as often as it was asked for. */
export function cardsOfFile(file: string, service: string, onWarning: (text: string) => void): SharedCards {
  const opened = CardFile.open(file, onWarning);
  let services = sharedByFile.get(opened);
  if (services === undefined) {
    services = new Map();
    sharedByFile.set(opened, services);
  }
  let shared = services.get(service);
  if (shared === undefined) {
    const folder = path.join(path.dirname(file), REFERENCES);
    const section = opened.section(service);
    // Without any model the cards may be lost, and come back.
    const meant = (): ReadonlySet<string> | undefined =>
      opened.isRead && section.models.size > 0 ? meantIds(section) : undefined;
    shared = newShared(section, new ReferenceFiles(folder, service, meant), opened);
    services.set(service, shared);
  }
  return shared;
}

function newShared(
  section: ServiceSection,
  references: ReferenceFiles,
  file: CardFile | undefined,
): SharedCards {
  const models = new NamedModels(section.models, {
    changed: () => file?.changed(),
    gone: (versions) => release({ file, section, references }, versions),
  });
  const fits = new FitsUnderWay();
  file?.onRead(() => {
    models.readAnew();
    for (const name of section.models.keys()) {
      fits.arrived(name);
    }
  });
  return { file, section, models, fits, moves: new Serial(), held: new Map(), references };
}

type Kept = Pick<SharedCards, 'file' | 'section' | 'references'>;

function release(shared: Kept, gone: readonly KeptVersion[]): void {
  const cards = gone.map(({ card }) => card);
  addFormer(
    shared.section,
    cards.map((card) => ({ fitted: card.fitted_train_set_id, upload: card.train_set_upload_id })),
  );
  dropReferences(
    shared,
    cards.map((card) => card.fitted_train_set_id),
  );
}

/** Removes the references of models that no name refers to any more. */
export function dropReferences({ file, section, references }: Kept, ids: readonly string[]): void {
  for (const id of unmeant(section, ids)) {
    // Not before the cards on disk have forgotten the model. It never fails, and `flush` waits for it.
    void references.remove(id, () => file?.flush());
  }
}
