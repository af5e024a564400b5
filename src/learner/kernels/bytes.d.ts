/** The kernels as WebAssembly: `index.as.ts` and what it imports, compiled by the build (`scripts/lib/kernels.mjs`). */
export const bytes: Uint8Array;
