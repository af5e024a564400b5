import type { CleaningChoices } from '../../scoring/types';
import { knownZone } from '../../table/cells/time-zone';
import { ServiceError } from '../../wire/service-error';
import { candidates, choiceField, listField, textField } from './fields';

/** How a table is read that has gaps, words for missing values, and dates of a place, as a flow file has it. */
export interface CleaningDef {
  missingWords?: string | string[];
  unreadable?: string;
  timezone?: string;
}

/**
 * Reads these fields, each of which the message may fill in where the dialog leaves it empty.
 *
 * @param env a field with its environment variables put in
 * @throws ServiceError `config.invalid`, `validation.failed`
 */
export function cleaningFields(
  def: CleaningDef,
  msg: Record<string, unknown>,
  env: (value: unknown) => unknown,
): Omit<CleaningChoices, 'missingTarget'> {
  return {
    missingWords: listField(...candidates('Missing words', env(def.missingWords), 'missing_words', msg)),
    unreadable: choiceField(
      ['error', 'missing'],
      ...candidates('Unreadable cells', env(def.unreadable), 'unreadable', msg),
    ),
    timezone: zoneField(...candidates('Time zone', env(def.timezone), 'timezone', msg)),
  };
}

function zoneField(...list: Parameters<typeof textField>): string | undefined {
  const name = textField(...list)?.trim();
  if (name === undefined || name === '' || knownZone(name) !== undefined) {
    return name === '' ? undefined : name;
  }
  const { place } = list.find(({ value }) => value !== undefined && value !== '')!;
  throw new ServiceError(
    place.startsWith('msg.') ? 'validation.failed' : 'config.invalid',
    `${place} must be the name of a time zone such as Europe/Berlin, America/New_York or UTC, not "${name}".`,
  );
}
