import type { Shape } from '../types';

/** A pack of SenML: records with base fields; of several units under one name, each is a column. https://www.rfc-editor.org/rfc/rfc8428 */
export const SENML: Shape = {
  name: 'SenML',
  items: ['[]'],
  has: { 'n|bn': 'text', 'v|vb|vs|bv|s': 'value' },
  carries: ['bn', 'bt', 'bv'],
  base: { column: 'bn', time: 'bt', value: 'bv' },
  column: 'n',
  apart: 'u',
  value: 'v|vb|vs|s',
  time: 't',
};
