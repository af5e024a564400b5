import type { ModelCard, Reference } from '../../connection';
import { BoundedMap } from '../../util/collections';
import type { TruthSeen, Watch, WatchChange, WatchedModel, WatchOptions } from '../../watch';
import type { ServiceError } from '../../wire/service-error';
import type { Task } from '../../wire/vocabulary';
import type { UsedConfig } from '../config/config-state';
import { watchLayer } from '../lazy';
import { isInFlow, modelChanged } from '../model-changed';
import type { NodeRuntime } from '../node-runtime';
import { KeptWatches, MAX_MODELS, type Watches } from './kept-watches';
import { type NamedCard, type ToldZone, type WatchDef, watchOptions } from './request';
import { changeText, showing, type ShownWatch, type ShowsWatch } from './shown-watch';

/** How long after a take over, in milliseconds, a prediction of the model before may have been on its way. */
const ON_ITS_WAY_MS = 60_000;

/** Truths that wait for the first prediction: those of rows that wait in a predict node for their model. */
const MAX_EARLY = 10_000;

/** A model as it is watched, and until when it has learned from the rows of each machine. */
interface ReadModel {
  model: WatchedModel;
  until: ReadonlyMap<string, number> | undefined;
}

/** A model as its predictions are watched just now. */
interface Watched {
  watch: Watch;
  /** That the model is another one than before. */
  changes: WatchChange[];
  /** The model has learned from rows up to this time of a machine, in milliseconds since 1970. */
  trainedUntil: TrainedUntil;
  /** The id of the model that made the predictions, where it was in charge before: they were on their way. */
  madeBy?: string;
}

/** Which model a prediction or a truth is counted for, in the watches of one node. */
export class WatchKeeper implements ShowsWatch {
  private readonly kept: KeptWatches;
  private readonly causes = new BoundedMap<string, readonly unknown[]>(MAX_MODELS);
  private readonly modelsRead = new BoundedMap<string, ReadModel>(MAX_MODELS);
  private readonly takeOvers = new BoundedMap<string, number>(MAX_MODELS);
  /** Models whose newest predictions were made by the version in charge, not by one that was asked for by number. */
  private readonly inCharge = new BoundedMap<string, boolean>(MAX_MODELS);
  private early: TruthSeen[] = [];
  private known: WatchOptions | undefined;
  private told: ToldZone = { timezone: undefined };

  constructor(
    private readonly runtime: NodeRuntime<WatchDef>,
    private readonly config: UsedConfig,
  ) {
    this.kept = new KeptWatches(runtime, () => this.options);
    showing.add(this);
  }

  /** What the dialog says, and the messages so far where it is open. @throws ServiceError `config.invalid` */
  get options(): WatchOptions {
    this.known ??= watchOptions(this.runtime, this.told);
    return this.known;
  }

  /**
   * Takes what a message says of the settings: the watches so far go on by it.
   * @throws ServiceError `config.invalid`, `validation.failed`, `closed`
   */
  async hear({ timezone }: ToldZone): Promise<void> {
    if (timezone === undefined || timezone === this.told.timezone) {
      return;
    }
    await this.kept.use((watches) => {
      const before = this.options.timezone;
      this.known = watchOptions(this.runtime, { timezone });
      this.told = { timezone };
      if (this.known.timezone === before) {
        return;
      }
      const { Watch } = watchLayer();
      for (const [model, watch] of [...watches]) {
        watches.set(model, Watch.from(watch.toJSON(), this.known));
      }
    });
  }

  /**
   * Counts a truth for the models that have predicted its row, or will.
   * @returns what it changes
   * @throws ServiceError `closed`, `config.invalid`
   */
  async truth(seen: TruthSeen): Promise<WatchChange[]> {
    const watches = await this.all();
    if (watches.length > 0) {
      return watches.flatMap((watch) => watch.truth(seen).changes);
    }
    this.early.push(seen);
    if (this.early.length > MAX_EARLY) {
      this.early = this.early.slice(-MAX_EARLY / 2);
    }
    return [];
  }

  /** The watches so far, that of the newest predictions last. @throws ServiceError `closed`, `config.invalid` */
  all(): Promise<Watch[]> {
    return this.kept.use((watches) => [...watches.values()]);
  }

  /**
   * The watch of a model, which a fit may have replaced since it was asked for last.
   * @param task of a model whose card is not known
   * @throws ServiceError `closed`, `config.invalid`
   */
  of(named: NamedCard, task: Task): Promise<Watched> {
    return this.kept.use((watches) => this.current(watches, named, task));
  }

  /** The models as they were kept: which of them are watched by the version in charge. */
  noteInCharge(watches: readonly Watch[]): void {
    for (const { model } of watches) {
      this.inCharge.set(model.name, this.card(model.name)?.fitted_train_set_id === model.id);
    }
  }

  /**
   * Another version of a model may have taken over, by a fit or by hand.
   * @returns that it has, where the predictions of the version in charge are watched
   * @throws ServiceError `closed`, `config.invalid`
   */
  async followed(name: string): Promise<WatchChange[]> {
    const isOther = (): boolean => {
      const [id, card] = [this.kept.watches.get(name)?.model.id, this.card(name)];
      return id !== undefined && card !== undefined && card.fitted_train_set_id !== id;
    };
    if (this.inCharge.get(name) !== true || !isOther()) {
      return [];
    }
    return this.kept.use(async (watches) => {
      const watch = watches.get(name);
      const card = this.card(name);
      if (watch === undefined || card === undefined || !isOther()) {
        return [];
      }
      const { model } = await this.readModel(card, name);
      return this.takenOver(watch, model);
    });
  }

  /** Something was counted of models: it is written soon, or at once where the flow gets a change. */
  counted(models: Iterable<string>, changes: readonly WatchChange[]): void {
    for (const model of models) {
      modelChanged(this.runtime.red, model);
    }
    this.kept.changed(changes.length > 0);
  }

  /** The names of the models watched so far. */
  get models(): Iterable<string> {
    return this.kept.watches.keys();
  }

  /** Key of the service whose models are watched; undefined where none of them is known yet. */
  get service(): string | undefined {
    return this.config.cards()?.service;
  }

  /** Keeps why a prediction is what it is, until the next one says. */
  because(model: string, causes: unknown): void {
    if (Array.isArray(causes)) {
      this.causes.set(model, causes);
    }
  }

  /** What a change says to a person. */
  readonly textOf = (change: WatchChange): string =>
    changeText(this.runtime.red, change, this.options.alarm, this.card(change.model)?.target);

  shown(model: string): ShownWatch | undefined {
    const report = this.kept.watches.get(model)?.report();
    if (report === undefined) {
      return undefined;
    }
    const changes = report.changes.map((change) => ({
      ...change,
      // The causes of an alarm stand by themselves.
      text: this.textOf({ ...change, causes: [] }),
    }));
    const causes = this.causes.get(model);
    return { ...report, changes, ...(causes !== undefined && { causes }) };
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.kept.refuses(underWay);
  }

  /** Writes what was counted; of a node that is deleted nothing stays. */
  async close(removed: boolean): Promise<void> {
    showing.delete(this);
    await this.kept.close(removed && !isInFlow(this.runtime.red, this.runtime.node));
  }

  private async current(
    watches: Watches,
    { name, card: given, fittedId }: NamedCard,
    task: Task,
  ): Promise<Watched> {
    const inCharge = this.card(name) ?? given;
    const known = watches.get(name) ?? this.renamed(watches, inCharge);
    const isOther = fittedId !== undefined && fittedId !== inCharge?.fitted_train_set_id;
    const isOnItsWay = isOther && known?.wasInCharge(fittedId) === true && this.isOnItsWay(name);
    // Another version may predict on purpose, as one that is named with its number: then it is the one to watch.
    const card = isOther && !isOnItsWay ? (this.config.cards()?.byFittedId(fittedId) ?? inCharge) : inCharge;
    this.inCharge.set(name, card === inCharge);
    const read = card === undefined ? undefined : await this.readModel(card, name);
    const model = read?.model;
    const watch = known ?? new (watchLayer().Watch)(model ?? { name, id: name, task }, this.options);
    // Set again, it is the last one to be forgotten.
    watches.set(name, watch);
    for (const seen of this.early.splice(0)) {
      watch.truth(seen);
    }
    return {
      watch,
      changes: this.takenOver(watch, model),
      trainedUntil: trainedUntil(card, read?.until),
      ...(isOnItsWay && { madeBy: fittedId }),
    };
  }

  private takenOver(watch: Watch, model: WatchedModel | undefined): WatchChange[] {
    const changes = model === undefined || model === watch.model ? [] : watch.modelChanged(model);
    if (changes.length > 0) {
      this.takeOvers.set(watch.model.name, Date.now());
    }
    return changes;
  }

  private isOnItsWay(name: string): boolean {
    return Date.now() - (this.takeOvers.get(name) ?? -Infinity) < ON_ITS_WAY_MS;
  }

  /** What is to be known of a model: with its reference, which is read from disk once for each model. */
  private async readModel(card: ModelCard, name: string): Promise<ReadModel> {
    const { fitted_train_set_id: id, version } = card;
    const before = this.modelsRead.get(name);
    const [chosen, known] = [card.threshold?.at, before?.model.threshold?.at];
    if (before?.model.id === id && before.model.version === version && chosen === known) {
      return before;
    }
    const reference = await this.config.cards()?.references.get(id);
    const model = { ...watchLayer().watchedModel(card, reference), name };
    const read = { model, until: untilByKey(reference) };
    this.modelsRead.set(name, read);
    return read;
  }

  private card(name: string): ModelCard | undefined {
    const cards = this.config.cards();
    return cards?.get(name) ?? cards?.byFittedId(name);
  }

  /** The watch of the same model under the name that it had before. */
  private renamed(watches: Watches, card: ModelCard | undefined): Watch | undefined {
    for (const [name, watch] of watches) {
      if (watch.model.id === card?.fitted_train_set_id && this.card(name) === undefined) {
        watches.delete(name);
        return watch;
      }
    }
    return undefined;
  }
}

/** Until when a model has learned from the rows of a machine, in milliseconds since 1970. */
type TrainedUntil = (key: string | null | undefined) => number;

/** Of each machine, where that is known. */
function untilByKey(reference: Reference | undefined): ReadonlyMap<string, number> | undefined {
  return reference?.until && new Map(reference.until.map(({ key, to }) => [key, to]));
}

/**
 * Machines may be behind each other: what counts is a machine's own newest row, and one that is none of the model's is
 * new to it. Where no machine is named, or none is known, it is the newest row of all.
 */
function trainedUntil(
  card: Pick<ModelCard, 'trained_until'> | undefined,
  byKey: ReadonlyMap<string, number> | undefined,
): TrainedUntil {
  const newest = card?.trained_until === undefined ? -Infinity : Date.parse(card.trained_until);
  return (key) =>
    key === undefined || key === null || byKey === undefined ? newest : (byKey.get(key) ?? -Infinity);
}
