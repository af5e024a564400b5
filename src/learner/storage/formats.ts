/*
 * What the bytes of a model begin with. By themselves, as the service looks at the formats of models wherever it starts, and
 * reads models in other threads only: what reads one takes 30 modules.
 */

/** The format that `saveModel` writes. */
export const MODEL_FORMAT = 'TPMA';
/**
 * The formats that `loadModel` reads. Readers of "TPM8" may know no levels divided among columns and no additive kernel; those of
 * "TPM9" no functions of one direction.
 */
export const READ_FORMATS: readonly unknown[] = ['TPM8', 'TPM9', MODEL_FORMAT];
/** Formats of earlier versions, which are not read any more. */
export const OUTDATED_FORMATS: readonly unknown[] = [1, 2, 3, 4, 5, 6, 7].map((number) => `TPM${number}`);
