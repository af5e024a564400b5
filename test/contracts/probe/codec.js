/* Values of messages as JSON and back: what JSON has no form for is an object with one property that begins with $. */
const { tableFromArrays, tableToIPC } = require('apache-arrow');

const NUMBERS = { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity, '-0': -0 };

/** An Arrow table is given as `{ $arrow: { column: values } }`. */
const DECODERS = {
  $buffer: (text) => Buffer.from(text, 'base64'),
  $text: (text) => Buffer.from(text, 'utf8'),
  $date: (text) => new Date(text),
  $number: (text) => NUMBERS[text],
  $bigint: (text) => BigInt(text),
  $undefined: () => undefined,
  $arrow: (columns) => tableFromArrays(columns),
  $ipc: (columns) => Buffer.from(tableToIPC(tableFromArrays(columns))),
};

function encode(value) {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? '-0' : String(value) };
    case 'bigint':
      return { $bigint: String(value) };
    case 'undefined':
      return { $undefined: true };
    case 'function':
      return { $function: value.name };
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null) {
    return null;
  }
  if (value instanceof Date) {
    return { $date: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  }
  if (ArrayBuffer.isView(value)) {
    return { $buffer: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (Array.isArray(value)) {
    return value.map(encode);
  }
  if (value.constructor?.name === 'Table' && value.schema !== undefined) {
    const columns = value.schema.fields.map(({ name }) => [name, Array.from(value.getChild(name), encode)]);
    return { $arrow: Object.fromEntries(columns) };
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, encode(one)]));
}

function decode(value) {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(decode);
  }
  const [[name, given] = []] = Object.entries(value);
  if (name in DECODERS && Object.keys(value).length === 1) {
    return DECODERS[name](given);
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, decode(one)]));
}

module.exports = { encode, decode };
