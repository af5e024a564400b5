import { show } from '../../table';
import { ServiceError } from '../../wire/service-error';
import { ofKey } from '../readings/time-and-key';
import type { BroughtOutcome, SeriesStep } from '../types';
import type { SeriesParts } from './parts';

/**
 * Joins an outcome that a message brings with the row that waits for it.
 *
 * @throws ServiceError validation.failed, outcome.unknown, time.invalid, limit.exceeded
 */
export function takeOutcome(
  { settings, state, timeAndKey, journal, builder, now }: SeriesParts,
  { id, key, time, value }: BroughtOutcome,
): SeriesStep {
  if (settings.outcome.kind !== 'message') {
    throw new ServiceError(
      'validation.failed',
      'The outcomes of this series come from its readings. Set Outcome to a message to bring them.',
    );
  }
  const { labels, waiting } = state;
  if (!labels.accepts(value)) {
    throw new ServiceError(
      'validation.failed',
      `The outcome ${show(value)} cannot be used. Give ${labels.expected}.`,
    );
  }
  const rowId = id ?? waiting.idAt(key ?? null, timeAndKey.instant(time));
  if (rowId === undefined || waiting.get(rowId) === undefined) {
    const which = id === undefined ? `${ofKey(key ?? null)} at ${show(time)}` : ` with the id ${show(id)}`;
    throw new ServiceError(
      'outcome.unknown',
      `No row${which} is waiting for an outcome: there was none, it has its outcome already, or it is no longer among the newest ${settings.keep}. Give the msg.series.id of the row, or its key and time.`,
    );
  }
  // Only now: an outcome without a row must not decide whether outcomes are numbers or labels.
  const truth = labels.codeOf(value);
  const { hasLeft, ...row } = waiting.take(rowId)!;
  const released = { ...row, truth };
  state.kept.add(released);
  journal.kept(released);
  state.counts.outcomes++;
  const reason = state.schedule.due(state.facts(now()));
  const trainSet = reason === undefined ? undefined : builder.trainSet(reason);
  const outcomes = hasLeft ? [builder.outcomeOf(released)] : [];
  return { rows: [], outcomes, ...(trainSet !== undefined && { trainSet }) };
}
