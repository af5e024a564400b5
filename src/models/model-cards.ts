import { cloneJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { addFormer, type PendingFit, superfluous } from './card-file';
import type { UploadCard } from './cards';
import { dropOldest, NamedModels } from './named-models';
import type { ReferenceFiles } from './reference-files';
import {
  cardsInMemory,
  cardsOfFile,
  dropReferences,
  type FitsUnderWay,
  type FitUnderWay,
} from './shared-cards';
import type { FormerModel } from './versioned-model';

const MAX_UPLOADS = 500;
const MAX_PENDING = 100;

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/**
 * The model cards of one service: its models by name, and what is known of them besides. Cards objects of one path and
 * service share what they know.
 */
export class ModelCards extends NamedModels {
  readonly service: string;
  /** What is kept of the train set of each model, by its id, until no name means the model any more. */
  readonly references: Pick<ReferenceFiles, 'get' | 'put'>;
  /** The fits under way, by model name; one begins with `beginFit`. */
  readonly fits: Pick<FitsUnderWay, 'end' | 'error' | 'inTurn' | 'arrival'>;
  private closed = false;

  constructor({ path, service, onWarning = () => undefined }: ModelCardsOptions) {
    super(path === undefined ? cardsInMemory(service) : cardsOfFile(path, service, onWarning));
    this.service = service;
    this.references = this.shared.references;
    this.fits = this.shared.fits;
  }

  /** Models can be found by their names, and cards be kept: see `assertUsable`. */
  get isUsable(): boolean {
    return this.shared.file?.newer === undefined;
  }

  /**
   * @throws ServiceError `storage.failed` where a newer version of this package wrote the file of the cards
   */
  assertUsable(): void {
    const { file } = this.shared;
    if (file?.newer !== undefined) {
      throw new ServiceError(
        'storage.failed',
        `The model cards in ${file.file} are left alone: ${file.newer.message}, or move the file away to begin anew.`,
      );
    }
  }

  /** Notes that a model, or a train set, is in use until the answer is called: it is not removed from the service. */
  hold(id: string): () => void {
    const { held } = this.shared;
    held.set(id, (held.get(id) ?? 0) + 1);
    return () => {
      const left = held.get(id)! - 1;
      if (left > 0) {
        held.set(id, left);
      } else {
        held.delete(id);
      }
    };
  }

  /**
   * Runs what removes models from the service, or brings some to it, one after the other: a model that is being removed
   * may be in the file that is imported.
   */
  move<Result>(step: () => Promise<Result>): Promise<Result> {
    return this.shared.moves.run(step);
  }

  isHeld(id: string): boolean {
    return this.shared.held.has(id);
  }

  /**
   * Notes a model that is kept under no name, or the train set of one that is to be fitted: the service may remove it
   * once nobody uses it. Resolves when that is on disk.
   */
  async discard({ fitted, upload }: FormerModel): Promise<void> {
    addFormer(this.shared.section, [{ fitted, upload }]);
    this.shared.file?.changed();
    await this.shared.file?.flush();
  }

  /** Dropped models of all names, which may be removed from the service: see `superfluous`. */
  superfluous(): { fitted: string; upload?: string }[] {
    return superfluous(this.shared.section, (id) => this.isHeld(id));
  }

  /** The service does not have a former model any more, nor its train set where that is named. */
  forgetFormer(fittedTrainSetId: string, uploadId?: string): void {
    const { section } = this.shared;
    section.former = section.former.filter(({ fitted }) => fitted !== fittedTrainSetId);
    if (uploadId !== undefined) {
      section.uploads.delete(uploadId);
    }
    dropReferences(this.shared, [fittedTrainSetId]);
    this.shared.file?.changed();
  }

  /** Keeps what is known of an upload, which is in use again where it was to be removed. */
  putUpload(upload: UploadCard): void {
    const { section } = this.shared;
    const { uploads } = section;
    section.former = section.former.filter(({ fitted }) => fitted !== upload.id);
    uploads.delete(upload.id);
    uploads.set(upload.id, cloneJson(upload));
    dropOldest(uploads, MAX_UPLOADS);
    this.shared.file?.changed();
  }

  /** Keeps a fit that goes on in the service, until `removePending`. */
  putPending(fit: PendingFit): void {
    const { pending } = this.shared.section;
    pending.set(fit.card.fitted_train_set_id, cloneJson(fit));
    dropOldest(pending, MAX_PENDING);
    this.shared.file?.changed();
  }

  /** The service is done with the fit, or does not know it. */
  removePending(fittedTrainSetId: string): void {
    if (this.shared.section.pending.delete(fittedTrainSetId)) {
      this.shared.file?.changed();
    }
  }

  /** The fit came to nothing: what was kept of its train set goes too. */
  failPending(fittedTrainSetId: string): void {
    this.removePending(fittedTrainSetId);
    dropReferences(this.shared, [fittedTrainSetId]);
  }

  /** Fits that were not done when they were last heard of. */
  pending(): PendingFit[] {
    return [...this.shared.section.pending.values()];
  }

  upload(id: string): UploadCard | undefined {
    return this.shared.section.uploads.get(id);
  }

  /** The newest train set with this target that was uploaded from here. */
  newestTrainSet(target: string): UploadCard | undefined {
    return [...this.shared.section.uploads.values()].findLast(
      (card) => card.set === 'train' && card.target === target,
    );
  }

  /** Announces a fit. Until it ends, `fits.end(name)` is there to wait for. `late`: it must not take charge. */
  beginFit(name: string, late = false): FitUnderWay {
    return this.shared.fits.begin(
      name,
      (card, { fingerprint, why, takesCharge }) => {
        const own = this.put(card, fingerprint, { why, takesCharge });
        return { own, inCharge: this.named(card.name)!.card() };
      },
      late,
    );
  }

  /** Resolves when what was put is on disk. */
  async flush(): Promise<void> {
    await Promise.all([this.shared.file?.flush(), this.shared.references.idle()]);
  }

  /** Writes what is not yet written and lets go of the file. */
  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    this.closed = true;
    await Promise.all([this.shared.file?.release(), this.shared.references.idle()]);
  }
}
