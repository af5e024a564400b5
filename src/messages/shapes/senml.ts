import type { Shape } from '../types';

/** A pack of SenML: records with base fields. https://www.rfc-editor.org/rfc/rfc8428 */
export const SENML: Shape = {
  name: 'SenML',
  items: ['[]'],
  has: { 'n|bn': 'text', 'v|vb|vs|bv': 'value' },
  carries: ['bn', 'bt', 'bv'],
  base: { column: 'bn', time: 'bt', value: 'bv' },
  column: 'n',
  value: 'v|vb|vs',
  time: 't',
};
