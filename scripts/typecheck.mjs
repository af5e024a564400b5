/* npm run typecheck: src/, nodes/, the tests, the benches and the scripts in TypeScript. */
import { compile } from './lib/compile.mjs';

process.exitCode = ['src/learner', '.', 'test'].every((project) => compile(project, '--noEmit')) ? 0 : 1;
