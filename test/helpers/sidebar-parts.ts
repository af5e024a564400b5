import { buildSync } from 'esbuild';

import { root } from './node-red';

/**
 * The script of some modules of the sidebar, as the editor's is built, with what they export.
 *
 * @param modules files of plugins/models, without extension
 * @returns it sets the global variable `parts`
 */
export function sidebarParts(...modules: string[]): string {
  const { outputFiles } = buildSync({
    stdin: {
      contents: modules.map((one) => `export * from './plugins/models/${one}';`).join('\n'),
      resolveDir: root,
    },
    bundle: true,
    format: 'iife',
    globalName: 'parts',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]!.text;
}
