import { GIVEN_TYPES, type GivenType } from '../../table/cells/types';
import { ServiceError } from '../../wire/service-error';
import { objectField } from './fields';

/** Column types that override what is found: {column: type}, or JSON text of it. */
export function typesField(value: unknown): Record<string, GivenType> | undefined {
  const types = objectField({ place: 'The field Column types', value });
  if (types === undefined) {
    return undefined;
  }
  for (const [column, type] of Object.entries(types)) {
    if (!GIVEN_TYPES.includes(type as GivenType)) {
      throw new ServiceError(
        'config.invalid',
        `The field Column types gives the column "${column}" the type "${String(type)}"; known are ${GIVEN_TYPES.join(', ')}.`,
      );
    }
  }
  return types as Record<string, GivenType>;
}
