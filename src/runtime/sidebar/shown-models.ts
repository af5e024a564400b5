import { importanceBySensor, type ModelCards, type ReferenceCell, type Usual } from '../../scoring';
import type { ModelCard, ModelCurves } from '../../scoring/types';
import type { Column } from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { Red } from '../node-red';
import { shownWatch } from '../watch/shown-watch';
import { services, type ShownService, withCards } from './services';

/** Columns of the form, and train rows that it can be filled from. */
const FIELDS = 60;
const EXAMPLES = 12;

/** A field of the form of *Try it*. */
interface Field {
  name: string;
  type: string;
  /** What the column usually holds, where it is known. */
  usual?: Usual;
}

/** What the sidebar shows of one model. */
export interface ShownModel {
  card: ModelCard & { dead?: true };
  kind: ShownService['kind'];
  /** A watch node knows it. */
  watched: boolean;
  /** The version that was in charge before this one, where there is one to go back to. */
  before?: number;
  curves?: ModelCurves;
  /** Of each sensor, the most important first. */
  importance: [sensor: string, value: number][];
  /** The most important first; at most FIELDS. */
  fields: Field[];
  /** Whole rows of the train set. */
  examples: Record<string, ReferenceCell>[];
}

/** @throws ServiceError `model.unknown` */
export async function showModel(red: Red, id: string, name: string): Promise<ShownModel> {
  const service = services(red).find((one) => one.id === id);
  if (service === undefined) {
    throw unknown(name);
  }
  return withCards(red, service, async (cards) => {
    const card = cards?.list().find((one) => one.name === name);
    if (cards === undefined || card === undefined) {
      throw unknown(name);
    }
    const reference = await cards.reference(card.fitted_train_set_id);
    const { usual = [], rows = [], curves } = reference ?? {};
    const { columns } = reference === undefined || reference.columns.length === 0 ? card : reference;
    const rank = new Map(card.importance?.map(({ column }, place) => [column, place]));
    const fields = columns
      .map(({ name: column, type }, at): Field => ({ name: column, type, usual: usual[at] }))
      .sort((a, b) => (rank.get(a.name) ?? FIELDS) - (rank.get(b.name) ?? FIELDS))
      .slice(0, FIELDS);
    const step = Math.max(1, rows.length / EXAMPLES);
    const chosen = Array.from(
      { length: Math.min(rows.length, EXAMPLES) },
      (_, i) => rows[Math.floor((i + 0.5) * step)]!,
    );
    return {
      card,
      kind: service.kind,
      watched: shownWatch(name, service.key) !== undefined,
      before: versionBefore(cards, name),
      curves,
      importance: importanceBySensor(card),
      fields,
      examples: chosen.map((row) => asObject(columns, row)),
    };
  });
}

function versionBefore(cards: ModelCards, name: string): number | undefined {
  try {
    return cards.byFittedId(cards.rollBackTo(name, true))?.version;
  } catch {
    // There is none.
    return undefined;
  }
}

/** A kept row as a message would bring it. A date is text of its zone's local time, as it is kept. */
function asObject(columns: readonly Column[], row: readonly ReferenceCell[]): Record<string, ReferenceCell> {
  return Object.fromEntries(
    columns.map(({ name, type }, at): [string, ReferenceCell] => {
      const cell = row[at] ?? null;
      return [
        name,
        type === 'date' && typeof cell === 'number' ? new Date(cell).toISOString().slice(0, 19) : cell,
      ];
    }),
  );
}

function unknown(name: string): ServiceError {
  return new ServiceError('model.unknown', `There is no model "${name}" any more.`);
}
