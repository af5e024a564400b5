import { ServiceError } from '../../wire/service-error';
import type { FlowNode, Red } from '../node-red';

const REFERENCE = /\$\{([^}]+)\}/g;
const NOTHING_ELSE = /^\$\{([^}]+)\}$/;
/** JSON's numbers and booleans. */
const PLAIN_VALUE = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Node-RED's own variables that are names: set, and empty, where the user gave no name. */
const OWN_NAMES = ['NR_NODE_NAME', 'NR_FLOW_NAME', 'NR_GROUP_NAME', 'NR_SUBFLOW_NAME'];

/**
 * A dialog's text with each `${NAME}` replaced by the environment variable as Node-RED resolves it (node, group,
 * subflow, flow, process). Node-RED itself replaces only a property that is nothing but `${NAME}`, and only where the
 * variable is set. One that is set to nothing counts as set: it leaves the field empty on purpose.
 * @throws ServiceError `config.invalid` naming a variable that is not set
 */
export function fromEnvironment(red: Red, node: FlowNode | undefined, value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.replace(REFERENCE, (_reference, name: string) => asText(variable(red, node, name)));
}

/** As `fromEnvironment`; what is nothing but `${NAME}` keeps the kind of value that a flow or subflow gave it. */
export function evaluated(red: Red, node: FlowNode, text: string): unknown {
  const [whole, name] = NOTHING_ELSE.exec(text) ?? [];
  return whole === undefined ? fromEnvironment(red, node, text) : variable(red, node, name!);
}

/**
 * A field that holds a list or an object, or the text of one. Where that is JSON, a value takes its place inside the
 * texts and names of it, whatever quotes and brackets it holds; else (`a, ${NAME}`, `{"n": ${NAME}}`) in the text.
 */
export function inside(red: Red, node: FlowNode, value: unknown): unknown {
  return replaced(value, (text) => fromEnvironment(red, node, text));
}

/** As `inside`, for options: what is nothing but `"${NAME}"` is a number or a boolean where the variable holds one. */
export function insideOptions(red: Red, node: FlowNode, value: unknown): unknown {
  return replaced(value, (text, within) => {
    const found = within ? evaluated(red, node, text) : fromEnvironment(red, node, text);
    return within && NOTHING_ELSE.test(text) && typeof found === 'string' && PLAIN_VALUE.test(found)
      ? (JSON.parse(found) as unknown)
      : found;
  });
}

/** `replace` is told whether the text stands within JSON. */
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

/** The value of an environment variable. @throws ServiceError `config.invalid` where it is not set */
export function variable(red: Red, node: FlowNode | undefined, name: string): unknown {
  // The types know neither that a node may be lacking nor that a variable may be.
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

/** Variables that flows may not read. Node-RED hides them from its nodes; a dialog that was not deployed has none. */
function excluded(red: Red): readonly unknown[] {
  const names = (red.settings as { envVarExcludes?: unknown }).envVarExcludes;
  return Array.isArray(names) ? names : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
