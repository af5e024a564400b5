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

/** Where a setting is looked for: what is said there, and the place in words, for errors. */
interface Place {
  value: unknown;
  place: string;
  code: 'config.invalid' | 'validation.failed';
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
  return (name, first = 'dialog first') => {
    const setting = settings[name]!;
    const places = [
      inDialog(red, node, setting, name, def[name]),
      ...(setting.message === undefined ? [] : [inMessage(setting.message, msg)]),
    ];
    const value =
      setting.kind === 'flag'
        ? isRaised(setting, places)
        : firstSaid(setting, first === 'message first' ? places.reverse() : places);
    return value as ValueOf<S[typeof name]>;
  };
}

/**
 * A property of the message that no field of the dialog stands for.
 * @throws ServiceError `validation.failed`
 */
export function readProperty<Value>(setting: Setting<Value>, property: string, msg: Message): Value {
  return firstSaid(setting, [inMessage(property, msg)]) as Value;
}

function inDialog(
  red: Red,
  node: FlowNode | undefined,
  setting: Setting,
  name: string,
  value: unknown,
): Place {
  const filled = withVariables(red, node, setting, value);
  return {
    value: filled === setting.open ? undefined : filled,
    get place() {
      return `The field "${dialogWord(red, node?.type, `label.${setting.label || name}`)}"`;
    },
    code: 'config.invalid',
  };
}

function inMessage(property: string, msg: Partial<Message>): Place {
  return { value: msg[property], place: `msg.${property}`, code: 'validation.failed' };
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

function firstSaid(setting: Setting, places: readonly Place[]): unknown {
  const said = places.find(({ value }) => !isUnsaid(setting, value));
  if (said === undefined) {
    return setting.fallback;
  }
  const value = parseSetting(setting, said.value);
  const problem = problemWith(setting, value, 'form');
  if (problem === undefined) {
    return value;
  }
  throw new ServiceError(said.code, `${said.place} ${problem}${shown(setting, said.value)}.`);
}

/** What stands there instead of one of a few words. */
function shown({ kind }: Setting, value: unknown): string {
  return ['choice', 'word', 'zone'].includes(kind) && typeof value === 'string' && value.length <= 60
    ? `, not "${value}"`
    : '';
}

function isRaised(setting: Setting, [dialog, message]: readonly Place[]): boolean {
  const ticked = isUnsaid(setting, dialog!.value) ? setting.fallback : parseSetting(setting, dialog!.value);
  return ticked === true || parseSetting(setting, message?.value) === true;
}
