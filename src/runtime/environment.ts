import { ServiceError } from '../wire/service-error';
import type { FlowNode, Red } from './node-red';

const REFERENCE = /\$\{([^}]+)\}/g;

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
  const [whole, name] = /^\$\{([^}]+)\}$/.exec(text) ?? [];
  return whole === undefined ? fromEnvironment(red, node, text) : variable(red, node, name!);
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
