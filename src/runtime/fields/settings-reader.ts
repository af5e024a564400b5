import {
  type FlowProperties,
  isUnsaid,
  parseSetting,
  problemWith,
  type Setting,
  type Settings,
  type ValueOf,
  type ValuesOf,
} from '../../settings/kinds';
import { ServiceError } from '../../wire/service-error';
import { dialogWord, type FlowNode, type InFlow, type Message, type Red } from '../node-red';

/** Where a text of a dialog stands: in a node of a flow, or in none, where the dialog is not deployed. */
export type DialogPlace = Pick<InFlow, 'red'> & { readonly node: FlowNode | undefined };

const REFERENCE = /\$\{([^}]+)\}/g;
const NOTHING_ELSE = /^\$\{([^}]+)\}$/;
/** JSON's numbers and booleans. */
const PLAIN_VALUE = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Node-RED's own variables that hold names: empty if the user gave no name. */
const OWN_NAMES = ['NR_NODE_NAME', 'NR_FLOW_NAME', 'NR_GROUP_NAME', 'NR_SUBFLOW_NAME'];

/**
 * A text of a dialog with each `${NAME}` replaced by the environment variable as Node-RED resolves it (node, group,
 * subflow, flow, process). Node-RED itself replaces only properties that are exactly `${NAME}`, and only if the
 * variable is set. A variable set to an empty text counts as set: it leaves the field empty on purpose.
 * @throws ServiceError `config.invalid` naming a variable that is not set
 */
export function fromEnvironment(place: DialogPlace, value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.replace(REFERENCE, (_reference, name: string) => asText(variable(place, name)));
}

/** As `fromEnvironment`, but exactly `${NAME}` keeps the type that the flow or subflow gave the value. */
export function evaluated(place: DialogPlace, text: string): unknown {
  const [whole, name] = NOTHING_ELSE.exec(text) ?? [];
  return whole === undefined ? fromEnvironment(place, text) : variable(place, name!);
}

/**
 * For fields that hold a list or an object, or its text. In JSON, values are inserted into the parsed texts and names,
 * so quotes and brackets in them are safe; anything else (`a, ${NAME}`, `{"n": ${NAME}}`) is replaced as text.
 */
export function inside(place: DialogPlace, value: unknown): unknown {
  return replaced(value, (text) => fromEnvironment(place, text));
}

/** As `inside`, for options: exactly `"${NAME}"` becomes a number or a boolean if the variable holds one. */
export function insideOptions(place: DialogPlace, value: unknown): unknown {
  return replaced(value, (text, within) => {
    const found = within ? evaluated(place, text) : fromEnvironment(place, text);
    return within && NOTHING_ELSE.test(text) && typeof found === 'string' && PLAIN_VALUE.test(found)
      ? (JSON.parse(found) as unknown)
      : found;
  });
}

/** `replace` is told whether the text is inside JSON. */
type Replace = (text: string, within: boolean) => unknown;

function replaced(value: unknown, replace: Replace): unknown {
  if (typeof value !== 'string') {
    return replacedWithin(value, replace);
  }
  const json = value.includes('${') && /^\s*[[{]/.test(value) ? parsed(value) : undefined;
  return json === undefined ? replace(value, false) : replacedWithin(json, replace);
}

function replacedWithin(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string') {
    return replace(value, true);
  }
  if (Array.isArray(value)) {
    return value.map((item) => replacedWithin(item, replace));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      String(replace(name, false)),
      replacedWithin(item, replace),
    ]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of an environment variable. @throws ServiceError `config.invalid` if it is not set */
function variable({ red, node }: DialogPlace, name: string): unknown {
  // The declared types allow neither a missing node nor a missing variable.
  const value = (red.util.getSetting as (node: FlowNode | undefined, name: string) => unknown)(node, name);
  const hidden = node === undefined && excluded(red).includes(name);
  if (value !== undefined && value !== null && !hidden) {
    return value;
  }
  if (OWN_NAMES.includes(name)) {
    return '';
  }
  throw new ServiceError(
    'config.invalid',
    `The environment variable ${name} is not set: set it for Node-RED or in the flow, or take it out of the field.`,
  );
}

/** Variables that flows may not read. Node-RED hides them from nodes, but an undeployed dialog has no node. */
function excluded(red: Red): readonly unknown[] {
  const names = (red.settings as { envVarExcludes?: unknown }).envVarExcludes;
  return Array.isArray(names) ? names : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is said of a setting in one place; undefined instead where nothing is. */
interface Said {
  readonly value: unknown;
}

/** Reads one setting of a node: `read('holdout')`. */
export type ReadSetting<S extends Settings> = <Name extends keyof S & string>(
  name: Name,
  first?: 'dialog first' | 'message first',
) => ValueOf<S[Name]>;

/**
 * Reads the settings of a node for one message: the dialog wins, and what it leaves open is taken from the message. A
 * check box is ticked by either. Only what is read is checked.
 *
 * @param def the properties of the node in the flow file
 * @returns the reader; it throws ServiceError `config.invalid` for a field, `validation.failed` for a property of the
 *   message, each naming its place as the user knows it
 */
export function settingsReader<S extends Settings>(
  place: DialogPlace,
  settings: S,
  def: FlowProperties<S>,
  msg: Partial<Message> = {},
): ReadSetting<S> {
  return settingsReaders(place, settings, def)(msg);
}

/**
 * The same for message after message of a node: what the dialog says is read once, its environment variables too, since
 * Node-RED recreates a node when one that it can see changes (its own, of its group, subflow or flow, global). Lists and
 * objects are read for each message all the same, so that each has its own.
 */
export function settingsReaders<S extends Settings>(
  place: DialogPlace,
  settings: S,
  def: FlowProperties<S>,
): (msg: Partial<Message>) => ReadSetting<S> {
  const remembered = new Map<string, Said | undefined>();

  const inDialog = (name: keyof S & string): Said | undefined => {
    if (remembered.has(name)) {
      return remembered.get(name);
    }
    const said = saidInDialog(place, settings[name]!, name, def[name]);
    if (typeof said?.value !== 'object') {
      remembered.set(name, said);
    }
    return said;
  };

  return (msg) => (name, first) => {
    const setting = settings[name]!;
    if (setting.kind === 'flag') {
      const ticked = inDialog(name)?.value ?? setting.fallback;
      return (ticked === true || saidInMessage(setting, setting.message, msg)?.value === true) as ValueOf<
        S[typeof name]
      >;
    }
    const said =
      first === 'message first'
        ? (saidInMessage(setting, setting.message, msg) ?? inDialog(name))
        : (inDialog(name) ?? saidInMessage(setting, setting.message, msg));
    return (said === undefined ? setting.fallback : said.value) as ValueOf<S[typeof name]>;
  };
}

/** Reads several settings at once, by their names. */
export function readEach<S extends Settings, Name extends keyof S & string>(
  read: ReadSetting<S>,
  names: readonly Name[],
): Pick<ValuesOf<S>, Name> {
  const values: Partial<ValuesOf<S>> = {};
  for (const name of names) {
    values[name] = read(name);
  }
  return values as Pick<ValuesOf<S>, Name>;
}

/**
 * A property of the message that no field of the dialog stands for.
 * @throws ServiceError `validation.failed`
 */
export function readProperty<Value>(setting: Setting<Value>, property: string, msg: Message): Value {
  const said = saidInMessage(setting, property, msg);
  return (said === undefined ? setting.fallback : said.value) as Value;
}

function saidInDialog(place: DialogPlace, setting: Setting, name: string, value: unknown): Said | undefined {
  const filled = withVariables(place, setting, value);
  const { red, node } = place;
  const field = (): string => `The field "${dialogWord(red, node?.type, `label.${setting.label || name}`)}"`;
  return filled === setting.open ? undefined : saidIn(setting, filled, 'config.invalid', field);
}

function saidInMessage(
  setting: Setting,
  property: string | undefined,
  msg: Partial<Message>,
): Said | undefined {
  const given = property === undefined ? undefined : msg[property];
  return given === undefined
    ? undefined
    : saidIn(setting, given, 'validation.failed', () => `msg.${property}`);
}

/** @param place in words, for errors */
function saidIn(
  setting: Setting,
  given: unknown,
  code: 'config.invalid' | 'validation.failed',
  place: () => string,
): Said | undefined {
  if (isUnsaid(setting, given)) {
    return undefined;
  }
  const value = parseSetting(setting, given);
  const problem = problemWith(setting, value, 'form');
  if (problem === undefined) {
    return { value };
  }
  throw new ServiceError(code, `${place()} ${problem}${shown(setting, given)}.`);
}

/** The value of a field with its environment variables put in. */
function withVariables(place: DialogPlace, { kind }: Setting, value: unknown): unknown {
  switch (kind) {
    case 'object':
    case 'vary':
      return insideOptions(place, value);
    case 'list':
    case 'several':
    case 'quantiles':
    case 'types':
      return inside(place, value);
    default:
      return fromEnvironment(place, value);
  }
}

/** What stands there instead of one of a few words. */
function shown({ kind }: Setting, value: unknown): string {
  return ['choice', 'onOff', 'word', 'zone'].includes(kind) && typeof value === 'string' && value.length <= 60
    ? `, not "${value}"`
    : '';
}
