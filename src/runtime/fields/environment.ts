import { ServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';

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
export function fromEnvironment(red: Red, node: FlowNode | undefined, value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.replace(REFERENCE, (_reference, name: string) => asText(variable(red, node, name)));
}

/** As `fromEnvironment`, but exactly `${NAME}` keeps the type that the flow or subflow gave the value. */
export function evaluated(red: Red, node: FlowNode | undefined, text: string): unknown {
  const [whole, name] = NOTHING_ELSE.exec(text) ?? [];
  return whole === undefined ? fromEnvironment(red, node, text) : variable(red, node, name!);
}

/**
 * For fields that hold a list or an object, or its text. In JSON, values are inserted into the parsed texts and names,
 * so quotes and brackets in them are safe; anything else (`a, ${NAME}`, `{"n": ${NAME}}`) is replaced as text.
 */
export function inside(red: Red, node: FlowNode | undefined, value: unknown): unknown {
  return replaced(value, (text) => fromEnvironment(red, node, text));
}

/** As `inside`, for options: exactly `"${NAME}"` becomes a number or a boolean if the variable holds one. */
export function insideOptions(red: Red, node: FlowNode | undefined, value: unknown): unknown {
  return replaced(value, (text, within) => {
    const found = within ? evaluated(red, node, text) : fromEnvironment(red, node, text);
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
export function variable(red: Red, node: FlowNode | undefined, name: string): unknown {
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
