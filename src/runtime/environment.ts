import type { FlowNode, Red } from './node-red';

/**
 * A dialog's text with each `${NAME}` replaced by the environment variable as Node-RED resolves it (node,
 * group, flow, process). Node-RED itself replaces only a property that is nothing but `${NAME}`.
 */
export function fromEnvironment(red: Red, node: FlowNode | undefined, value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  if (!/\$\{[^}]+\}/.test(plain)) {
    return plain;
  }
  return plain.replace(/\$\{[^}]+\}/g, (reference) =>
    String(red.util.evaluateNodeProperty(reference, 'env', node as FlowNode, {}) ?? ''),
  );
}
