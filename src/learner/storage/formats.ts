/*
 * What the bytes of a model begin with. By themselves, as the service looks at the formats of models wherever it starts, and
 * reads models in other threads only: what reads one takes 30 modules.
 */

/** The format that `saveModel` writes. */
export const MODEL_FORMAT = 'TPMA';
/**
 * The formats that `loadModel` reads. "TPM4" had neither packed trees nor terms; readers of "TPM5" may know no kernel and no
 * growth; those of "TPM6" no kernel for classes; those of "TPM7" no linear terms that take values as numbers; those of "TPM8"
 * no levels divided among columns and no additive kernel; those of "TPM9" no functions of one direction.
 */
export const READ_FORMATS: readonly unknown[] = [
  ...['TPM4', 'TPM5', 'TPM6', 'TPM7', 'TPM8', 'TPM9'],
  MODEL_FORMAT,
];
/** Formats of earlier versions, which are not read any more. */
export const OUTDATED_FORMATS: readonly unknown[] = ['TPM1', 'TPM2', 'TPM3'];
