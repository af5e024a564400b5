import type { FlatTable } from './flat-table';

const MESSAGE_CUSTOM_METADATA = 4;
const SCHEMA = { fields: 1, customMetadata: 2 };
const FIELD = { name: 0, typeType: 2, type: 3, children: 5, customMetadata: 6 };
const UNION = { kind: 14, typeIds: 1 };
const KEY_VALUE = { key: 0, value: 1 };

/** Levels of nested fields. */
const MAX_DEPTH = 64;
/** How often a text may be shared, on the average over all bytes. */
const SHARED = 16;

/**
 * Refuses metadata that tells of more than its bytes hold: parts of a flatbuffer may be shared, so that a few hundred
 * bytes can tell of billions of fields, which the library would follow one by one.
 *
 * @param schema where the metadata is of a schema
 * @param message where it is a message
 */
export function assertBoundedMetadata(schema: FlatTable | undefined, message?: FlatTable): void {
  let left = SHARED * ((schema ?? message)?.bytes.length ?? 0);

  function spend(bytes: number): void {
    left -= bytes;
    if (left < 0) {
      throw new RangeError('its metadata tells of more than its bytes hold');
    }
  }

  function spendPairs(table: FlatTable, field: number): void {
    for (const pair of table.tables(field)) {
      spend(4 + pair.list(KEY_VALUE.key, 1).length + pair.list(KEY_VALUE.value, 1).length);
    }
  }

  function spendFields(parent: FlatTable, children: number, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw new RangeError(`its columns are nested more than ${MAX_DEPTH} levels deep`);
    }
    for (const field of parent.tables(children)) {
      spend(4 + field.list(FIELD.name, 1).length);
      if (field.byte(FIELD.typeType) === UNION.kind) {
        spend(4 * (field.table(FIELD.type)?.list(UNION.typeIds, 4).length ?? 0));
      }
      spendPairs(field, FIELD.customMetadata);
      spendFields(field, FIELD.children, depth + 1);
    }
  }

  if (message !== undefined) {
    spendPairs(message, MESSAGE_CUSTOM_METADATA);
  }
  if (schema !== undefined) {
    spendPairs(schema, SCHEMA.customMetadata);
    spendFields(schema, SCHEMA.fields, 1);
  }
}
