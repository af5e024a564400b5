/** A message as a source sent it: `payload` is the value at the place that the node reads. */
export interface SourceMessage {
  payload: unknown;
  topic?: unknown;
  readonly [property: string]: unknown;
}

/** One reading, as it was read from a message. */
export interface MessageReading {
  /** The machine; undefined where the message does not tell it. */
  key?: string;
  /** Milliseconds since 1970, or a date as text; undefined where the message does not tell it. */
  time?: unknown;
  /** Columns with a number, text, a truth value, or null where there is no value. */
  values: Record<string, unknown>;
}

/** What was read from a message. */
export interface ReadMessage {
  /** The name of the shape that it has; undefined where it is read plainly. */
  shape?: string;
  readings: MessageReading[];
  /** Whether its readings have no values because nobody has decoded what the device sent. */
  isRaw?: boolean;
  /** In place of them: a table of the past, or a plan. */
  table?: AsyncIterable<MessageReading>;
}

/** What must stand at a path: `number`, `text`, `object` and `list` as in JSON, `time` in any form, `value` what is no object, `json` an object or text of one, `plain` a value that is no such text, `any` what is not undefined. */
export type PathKind = 'number' | 'text' | 'object' | 'list' | 'time' | 'value' | 'json' | 'plain' | 'any';

/**
 * How messages of one source look. A path names a place within an item, `payload.` begins one within the payload and
 * `msg.` one within the message; several paths divided by `|` mean the first that holds something.
 */
export interface Shape {
  /** As it is shown to people. */
  name: string;
  /** Topics that its messages have: levels with `{key}`, `{column}`, `+` for any level and `#` for the rest, or an expression with such groups. */
  topics?: readonly (string | RegExp)[];
  /**
   * Where its items are, each a reading or a value: paths in the payload (or `msg.`) to an object, or with `[]` at the end
   * to a list of objects; `''` is the payload, and left out it is meant. With `isEvery` all of the places are read that
   * there are, otherwise the first. Lists may stand in lists (`devices[].modules[]`): of an inner item, `up` is the one that
   * it stands in. With `{}` at the end they are the entries of an object, each with its name as `entry`; within other items, where the
   * entries are lists, what stands in these.
   */
  items?: readonly string[];
  isEvery?: boolean;
  /** The payload has an entry for each key, and in it the items of that key. */
  byKey?: boolean;
  /** The same for each column: its items are values of it. */
  byColumn?: boolean;
  /** Items are lists of equal length, one for each column, rather than objects. */
  inLists?: boolean;
  /** Items have an object for each column, of values by time; `time` is their time. */
  inTimes?: boolean;
  /** A list as long as that of the items, whose entries tell of them: of an item, `beside` is its own. Of several paths, the first that holds a list. */
  beside?: string;
  /** What an item must have, by path. */
  has: Readonly<Record<string, PathKind>>;
  /** What an item must not have: paths. */
  lacks?: readonly string[];
  /**
   * Where the values of an item are, a list with one in each entry: in what follows, `each` is the entry, and a `time` that
   * is a list has one for each. Of several paths the first that holds a list.
   */
  each?: string;
  /** Items are of a table: of the past, or a plan. */
  isTable?: boolean;
  /** Of several, those that are there, with slashes. */
  key?: string | readonly string[];
  /**
   * Objects of names that tell series apart, or lists of such names with their values: offered as the key, and the key
   * together where none is chosen. Of several paths, all that there are.
   */
  labels?: string | readonly string[];
  time?: string;
  /** The time between two entries of `each`, from `time` on: where it stands, in seconds or as a duration of ISO 8601; and where an entry says which it is, from 1 on. */
  step?: { by: string; place?: string };
  /** Seconds ahead of UTC of times that name no zone: where they stand, or the number. */
  offset?: string | number;
  /** The object whose entries are columns; `''` is the item. */
  values?: string;
  /** What the device has sent, in bytes: where `values` has nothing of it, nobody has decoded it, and that is said. */
  raw?: string;
  /** Columns, or labels, that are none; `*` stands for any text. */
  omit?: readonly string[];
  /** Entries of lists are columns by their place: `meters.0.power`. */
  numbered?: boolean;
  /** The names of `values`, where that is a list, or where they stand. `column` stands in front of columns of `values`. */
  names?: string | readonly string[];
  /** In place of `values`: an item is a single value, and this is its column; of several, those that are there, with dots. */
  column?: string | readonly string[];
  /** What of the column is its name, where that is a part of it: expressions with a group `column`. */
  within?: readonly RegExp[];
  /** What tells items with one column apart, such as a unit: of all but the first, it follows the column. */
  apart?: string;
  /** The column of an item that does not say which. */
  unnamed?: string;
  value?: string;
  /** A code or a word that says whether the value can be used. */
  quality?: string;
  /** Paths of an item that also hold for the items after it, until another one says otherwise. */
  carries?: readonly string[];
  /** In front of the column, and added to the time and the value of all that follow, as SenML has it. */
  base?: { column: string; time: string; value: string };
  /** What the item holds there is a message of its own, read by its own shape. */
  message?: string;
}
