import type { Node, NodeAPI, NodeDef, NodeMessageInFlow } from 'node-red';

/** Node-RED's own types under this package's names. Nothing below runtime knows them. */
export type Red = NodeAPI;
// oxlint-disable-next-line typescript/no-empty-object-type -- as @types/node-red bounds it
export type FlowNode<Credentials extends {} = {}> = Node<Credentials>;
export type FlowNodeDef = NodeDef;
export type Message = NodeMessageInFlow;

/** A node in its flow, as Node-RED knows it. */
export interface InFlow {
  readonly red: Red;
  readonly node: FlowNode;
}

/**
 * What the flow file holds for a field: of `${NAME}` alone, Node-RED gives a node the value of the variable. Undefined
 * where nothing stands there.
 */
export function inFlowFile({ red, node }: InFlow, property: string): string | undefined {
  const { id, _alias: alias } = node as FlowNode & { _alias?: string };
  let found: unknown;
  red.nodes.eachNode((def) => {
    if (def.id === id || def.id === alias) {
      found = (def as unknown as Record<string, unknown>)[property];
    }
  });
  return typeof found === 'string' && found !== '' ? found : undefined;
}

const PACKAGE = 'node-red-contrib-tabular-prediction';

/** Namespace of the catalogue that all nodes share (it belongs to the config node's set). */
export const SHARED_CATALOGUE = `${PACKAGE}/tabular-config`;

/** Texts that have another form, `<key>One`, for a single row: those that a user sees of one. */
const WITH_SINGULAR = new Set([
  'status.series.rows',
  'status.uploaded.sent',
  'status.uploaded.reused',
  'status.watch.plain',
]);

/** A text of the shared catalogue in the runtime's language, with numbers formatted for it. */
export function text(red: Red, key: string, values?: Record<string, string | number>): string {
  if (values === undefined) {
    return red._(`${SHARED_CATALOGUE}:${key}`);
  }
  if (values.rows === 1 && WITH_SINGULAR.has(key)) {
    return text(red, `${key}One`, values);
  }
  const written = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'number' ? number(red, value) : value,
  ]);
  return red._(`${SHARED_CATALOGUE}:${key}`, Object.fromEntries(written) as Record<string, string>);
}

/**
 * What the dialog of a node calls a field (`label.holdout`) or a choice (`task.regression`), in the runtime's language:
 * from the node's own catalogue, else from the shared one. Without a catalogue it is the last part of the key.
 */
export function dialogWord(red: Red, type: string | undefined, key: string): string {
  for (const catalogue of [`${PACKAGE}/${type}`, SHARED_CATALOGUE]) {
    // Node-RED returns the key if it does not know it.
    const word = red._(`${catalogue}:${key}`);
    if (!word.endsWith(key)) {
      return word;
    }
  }
  return key.slice(key.indexOf('.') + 1);
}

const formats = new Map<string, Intl.NumberFormat>();

/** A number formatted for the language of the catalogue, with the given number of decimals and unit. */
export function number(red: Red, value: number, digits?: number, unit?: string): string {
  const language = readLanguage(red);
  const key = `${language} ${digits ?? ''} ${unit ?? ''}`;
  const format = formats.get(key) ?? numberFormat(language, digits, unit);
  formats.set(key, format);
  return format.format(value);
}

const languages = new WeakMap<Red, string>();

/** The language of the catalogue: looked up once, since a message may hold many numbers. */
function readLanguage(red: Red): string {
  const known = languages.get(red);
  if (known !== undefined) {
    return known;
  }
  const language = red._(`${SHARED_CATALOGUE}:language`);
  // Without a catalogue, or before it is read, Node-RED returns the key.
  if (language.includes(':')) {
    return 'en-US';
  }
  languages.set(red, language);
  return language;
}

function numberFormat(language: string, digits?: number, unit?: string): Intl.NumberFormat {
  return new Intl.NumberFormat(language, {
    ...(digits !== undefined && { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    ...(unit !== undefined && { style: 'unit', unit, unitDisplay: 'short' }),
  });
}
