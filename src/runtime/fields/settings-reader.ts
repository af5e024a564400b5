import {
  type FlowProperties,
  isUnsaid,
  parseSetting,
  problemWith,
  type Setting,
  type Settings,
  type ValueOf,
} from '../../settings';
import { ServiceError } from '../../wire/service-error';
import { dialogWord, type FlowNode, type Message, type Red } from '../node-red';
import { fromEnvironment, inside, insideOptions } from './environment';

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
 * @param node undefined, or without a type, for a dialog that is not deployed
 * @param def the properties of the node in the flow file
 * @returns the reader; it throws ServiceError `config.invalid` for a field, `validation.failed` for a property of the
 *   message, each naming its place as the user knows it
 */
export function settingsReader<S extends Settings>(
  red: Red,
  node: FlowNode | undefined,
  settings: S,
  def: FlowProperties<S>,
  msg: Partial<Message> = {},
): ReadSetting<S> {
  return settingsReaders(red, node, settings, def)(msg);
}

/**
 * The same for message after message of a node: what the dialog says is read once, its environment variables too, since
 * Node-RED recreates a node when one that it can see changes (its own, of its group, subflow or flow, global). Lists and
 * objects are read for each message all the same, so that each has its own.
 */
export function settingsReaders<S extends Settings>(
  red: Red,
  node: FlowNode | undefined,
  settings: S,
  def: FlowProperties<S>,
): (msg: Partial<Message>) => ReadSetting<S> {
  const remembered = new Map<string, Said | undefined>();

  const inDialog = (name: keyof S & string): Said | undefined => {
    if (remembered.has(name)) {
      return remembered.get(name);
    }
    const said = saidInDialog(red, node, settings[name]!, name, def[name]);
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

/**
 * A property of the message that no field of the dialog stands for.
 * @throws ServiceError `validation.failed`
 */
export function readProperty<Value>(setting: Setting<Value>, property: string, msg: Message): Value {
  const said = saidInMessage(setting, property, msg);
  return (said === undefined ? setting.fallback : said.value) as Value;
}

function saidInDialog(
  red: Red,
  node: FlowNode | undefined,
  setting: Setting,
  name: string,
  value: unknown,
): Said | undefined {
  const filled = withVariables(red, node, setting, value);
  const place = (): string => `The field "${dialogWord(red, node?.type, `label.${setting.label || name}`)}"`;
  return filled === setting.open ? undefined : saidIn(setting, filled, 'config.invalid', place);
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
function withVariables(red: Red, node: FlowNode | undefined, { kind }: Setting, value: unknown): unknown {
  switch (kind) {
    case 'object':
      return insideOptions(red, node, value);
    case 'list':
    case 'several':
    case 'quantiles':
    case 'types':
      return inside(red, node, value);
    default:
      return fromEnvironment(red, node, value);
  }
}

/** What stands there instead of one of a few words. */
function shown({ kind }: Setting, value: unknown): string {
  return ['choice', 'word', 'zone'].includes(kind) && typeof value === 'string' && value.length <= 60
    ? `, not "${value}"`
    : '';
}
