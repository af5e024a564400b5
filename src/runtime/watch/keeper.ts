import type { ModelCard } from '../../scoring';
import { BoundedMap } from '../../util/bounded-map';
import { reasonOf } from '../../util/reason';
import { Serial } from '../../util/serial';
import type { TruthSeen, Watch, WatchChange, WatchedModel, WatchOptions, WatchReport } from '../../watch';
import { ServiceError } from '../../wire/service-error';
import type { Task } from '../../wire/types';
import type { UsedConfig } from '../config/use-config';
import { isInFlow } from '../in-flow';
import { watchLayer } from '../lazy';
import { modelChanged } from '../model-changed';
import { type FlowNode, type Red, text } from '../node-red';
import { watchFile } from '../paths';
import { changeText } from './change-text';
import type { NamedCard, ToldZone } from './request';
import { StateFile } from './state-file';
import { type TrainedUntil, trainedUntil, untilByKey } from './trained-until';

/** Models that one node watches; beyond that the one whose predictions are longest ago is forgotten. */
const MAX_MODELS = 20;
/** The state is written at most once in this time, in milliseconds; at once where the flow was told of a change. */
const WRITE_MS = 60_000;
/** A state that cannot be read now (too many open files, a disk in trouble) is tried again after this, in milliseconds. */
const READ_AGAIN_MS = 5_000;

/** How long after a take over, in milliseconds, a prediction of the model before may have been on its way. */
const ON_ITS_WAY_MS = 60_000;

/** Truths that wait for the first prediction: those of rows that wait in a predict node for their model. */
const MAX_EARLY = 10_000;

/** A model as it is watched, and until when it has learned from the rows of each machine. */
interface ReadModel {
  model: WatchedModel;
  until: ReadonlyMap<string, number> | undefined;
}

/** The keepers of all nodes that are there. */
const keepers = new Set<WatchKeeper>();

/** A model as its predictions are watched just now. */
export interface Watched {
  watch: Watch;
  /** That the model is another one than before. */
  changes: WatchChange[];
  /** The model has learned from rows up to this time of a machine, in milliseconds since 1970. */
  trainedUntil: TrainedUntil;
  /** The id of the model that made the predictions, where it was in charge before: they were on their way. */
  madeBy?: string;
}

/** The watches of one node, one for each model: read from disk with the first message, written each minute and at close. */
export class WatchKeeper {
  private readonly watches = new BoundedMap<string, Watch>(MAX_MODELS);
  private readonly file: StateFile;
  private readonly causes = new BoundedMap<string, readonly unknown[]>(MAX_MODELS);
  private readonly modelsRead = new BoundedMap<string, ReadModel>(MAX_MODELS);
  private readonly takeOvers = new BoundedMap<string, number>(MAX_MODELS);
  private early: TruthSeen[] = [];
  private readonly serial = new Serial();
  private known: WatchOptions | undefined;
  private told: ToldZone = { timezone: undefined };
  private isRead = false;
  private readAgainAt = 0;
  private isWritten = true;
  private isFailing = false;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly config: UsedConfig,
    private readonly readOptions: (told: ToldZone) => WatchOptions,
  ) {
    this.file = new StateFile(watchFile(red, node.id));
    keepers.add(this);
  }

  /** What the dialog says, and the messages so far where it is open. @throws ServiceError `config.invalid` */
  get options(): WatchOptions {
    this.known ??= this.readOptions(this.told);
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
    await this.serial.run(async () => {
      const before = this.options.timezone;
      this.known = this.readOptions({ timezone });
      this.told = { timezone };
      if (this.known.timezone === before) {
        return;
      }
      await this.read();
      const { Watch } = watchLayer();
      for (const [model, watch] of [...this.watches]) {
        this.watches.set(model, Watch.from(watch.toJSON(), this.known));
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
  async all(): Promise<Watch[]> {
    await this.serial.run(() => this.read());
    return [...this.watches.values()];
  }

  /**
   * The watch of a model, which a fit may have replaced since it was asked for last.
   * @param task of a model whose card is not known
   * @throws ServiceError `closed`, `config.invalid`
   */
  of(named: NamedCard, task: Task): Promise<Watched> {
    return this.serial.run(async () => {
      await this.read();
      return this.current(named, task);
    });
  }

  /** Something was counted of models: it is written soon, or at once where the flow is told of a change. */
  counted(models: Iterable<string>, changes: readonly WatchChange[]): void {
    this.isWritten = false;
    for (const model of models) {
      modelChanged(this.red, model);
    }
    if (changes.length > 0) {
      void this.serial.run(() => this.write());
    }
  }

  /** The names of the models watched so far. */
  get models(): Iterable<string> {
    return this.watches.keys();
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

  shown(model: string): ShownWatch | undefined {
    const report = this.watches.get(model)?.report();
    if (report === undefined) {
      return undefined;
    }
    const { alarm } = this.options;
    const changes = report.changes.map((change) => ({
      ...change,
      text: changeText(this.red, change, alarm),
    }));
    const causes = this.causes.get(model);
    return { ...report, changes, ...(causes !== undefined && { causes }) };
  }

  /** Writes what was counted; of a node that is deleted nothing stays. */
  async close(removed: boolean): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    keepers.delete(this);
    const isDeleted = removed && !isInFlow(this.red, this.node);
    await this.serial.run(() => (isDeleted ? this.file.remove() : this.write()));
  }

  private async current({ name, card: given, fittedId }: NamedCard, task: Task): Promise<Watched> {
    const inCharge = this.card(name) ?? given;
    const known = this.watches.get(name) ?? this.renamed(inCharge);
    const isOther = fittedId !== undefined && fittedId !== inCharge?.fitted_train_set_id;
    const isOnItsWay = isOther && known?.wasInCharge(fittedId) === true && this.isOnItsWay(name);
    // Another version may predict on purpose, as one that is named with its number: then it is the one to watch.
    const card = isOther && !isOnItsWay ? (this.config.cards()?.byFittedId(fittedId) ?? inCharge) : inCharge;
    const read = card === undefined ? undefined : await this.modelOf(card, name);
    const model = read?.model;
    const watch = known ?? new (watchLayer().Watch)(model ?? { name, id: name, task }, this.options);
    // Set again, it is the last one to be forgotten.
    this.watches.set(name, watch);
    for (const seen of this.early.splice(0)) {
      watch.truth(seen);
    }
    const changes = model === undefined || model === watch.model ? [] : watch.modelChanged(model);
    if (changes.length > 0) {
      this.takeOvers.set(name, Date.now());
    }
    return {
      watch,
      changes,
      trainedUntil: trainedUntil(card, read?.until),
      ...(isOnItsWay && { madeBy: fittedId }),
    };
  }

  private isOnItsWay(name: string): boolean {
    return Date.now() - (this.takeOvers.get(name) ?? -Infinity) < ON_ITS_WAY_MS;
  }

  /** What is to be known of a model: with its reference, which is read from disk once for each model. */
  private async modelOf(card: ModelCard, name: string): Promise<ReadModel> {
    const { fitted_train_set_id: id, version } = card;
    const before = this.modelsRead.get(name);
    const [chosen, known] = [card.threshold?.at, before?.model.threshold?.at];
    if (before?.model.id === id && before.model.version === version && chosen === known) {
      return before;
    }
    const reference = await this.config.cards()?.reference(id);
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
  private renamed(card: ModelCard | undefined): Watch | undefined {
    for (const [name, watch] of this.watches) {
      if (watch.model.id === card?.fitted_train_set_id && this.card(name) === undefined) {
        this.watches.delete(name);
        return watch;
      }
    }
    return undefined;
  }

  private async read(): Promise<void> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before its state was read.');
    }
    if (this.isRead) {
      return;
    }
    const { options } = this;
    if (this.timer === undefined) {
      this.timer = setInterval(() => void this.serial.run(() => this.write()), WRITE_MS);
      this.timer.unref();
    }
    const now = performance.now();
    if (now < this.readAgainAt) {
      return;
    }
    const { Watch } = watchLayer();
    try {
      for (const { model, state } of await this.file.read()) {
        this.watches.set(model, Watch.from(state, options));
      }
      this.isFailing = false;
    } catch (error) {
      if (isOfFileSystem(error)) {
        // What was kept is whole: predictions go on meanwhile, and nothing is written over it.
        this.readAgainAt = now + READ_AGAIN_MS;
        this.failed('warning.watchUnread', error);
        return;
      }
      this.watches.clear();
      this.node.warn(text(this.red, 'warning.watchState', { reason: reasonOf(error) }));
    }
    this.isRead = true;
  }

  /** Never fails, but tells. */
  private async write(): Promise<void> {
    if (this.isWritten || !this.isRead) {
      return;
    }
    this.isWritten = true;
    try {
      await this.file.write(Array.from(this.watches, ([model, watch]) => ({ model, state: watch.toJSON() })));
      this.isFailing = false;
    } catch (error) {
      this.isWritten = false;
      this.failed('warning.watchStorage', error);
    }
  }

  private failed(key: string, error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.node.warn(text(this.red, key, { reason: reasonOf(error) }));
    }
  }
}

/** Whether the file system said so, and not the bytes that were read. */
function isOfFileSystem(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** What the editor is told of a model. */
export interface ShownWatch extends Omit<WatchReport, 'changes'> {
  changes: (WatchChange & { text: string })[];
  /** What the newest prediction rests on, where its predict node said why. */
  causes?: readonly unknown[];
}

/**
 * What the watch nodes know of a model; where several watch it, the one with the most outcomes.
 *
 * @param service key of the service that has the model; left out: of any
 */
export function shownWatch(model: string, service?: string): ShownWatch | undefined {
  return [...keepers]
    .filter((keeper) => service === undefined || keeper.service === service)
    .flatMap((keeper) => keeper.shown(model) ?? [])
    .sort((a, b) => b.live.rows - a.live.rows)[0];
}
