/** How many cases a test tries: `some` in npm test, `full` in npm run test:every, which runs these files once more. */
export const fullCount = (full: number, some: number): number =>
  process.env.TABULAR_TESTS_IN_FULL === undefined ? some : full;
