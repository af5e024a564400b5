import type { Node, NodeAPI, NodeDef, NodeMessageInFlow } from 'node-red';

/** Node-RED's own types under the names the house uses. Nothing below runtime knows them. */
export type Red = NodeAPI;
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- as @types/node-red bounds it
export type FlowNode<Credentials extends {} = {}> = Node<Credentials>;
export type FlowNodeDef = NodeDef;
export type Message = NodeMessageInFlow;

/** Namespace of the catalogue that all six nodes share (it belongs to the config node's set). */
export const SHARED_CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config';

/** A text of the shared catalogue in the runtime's language; numbers in it are written as that language does. */
export function text(red: Red, key: string, values?: Record<string, string | number>): string {
  if (values === undefined) {
    return red._(`${SHARED_CATALOGUE}:${key}`);
  }
  const written = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'number' ? number(red, value) : value,
  ]);
  return red._(`${SHARED_CATALOGUE}:${key}`, Object.fromEntries(written) as Record<string, string>);
}

const formats = new Map<string, Intl.NumberFormat>();

/** A number as the language of the catalogue writes it, with so many digits behind the point where that is said. */
export function number(red: Red, value: number, digits?: number): string {
  const language = red._(`${SHARED_CATALOGUE}:language`);
  const key = `${language} ${digits ?? ''}`;
  const format = formats.get(key) ?? numberFormat(language, digits);
  formats.set(key, format);
  return format.format(value);
}

function numberFormat(language: string, digits: number | undefined): Intl.NumberFormat {
  // Where no catalogue is loaded Node-RED answers the key.
  const known = language.includes(':') ? 'en-US' : language;
  return new Intl.NumberFormat(
    known,
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits },
  );
}
