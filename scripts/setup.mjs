/* Installs and builds a checkout where that is still to be done, as npm start and npm test do before anything else. */
import { buildOnce, installOnce } from './lib/prepare.mjs';

await installOnce();
await buildOnce();
