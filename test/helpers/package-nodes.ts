import fs from 'node:fs';
import path from 'node:path';

import { root } from './node-red';

interface Manifest {
  'node-red': { nodes: Record<string, string> };
}

const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;

/** The node types of the package by the file that Node-RED loads for each, relative to the package. */
export const NODE_FILES = manifest['node-red'].nodes;

/** The node types, such as `tabular-fit`. */
export const NODE_TYPES = Object.keys(NODE_FILES);
