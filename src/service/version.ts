import { createRequire } from 'node:module';

import { LEARNER_VERSION } from '../learner/version';

/** Which learner fits: models of another are not answers of this one. */
export const LEARNER = `learner ${LEARNER_VERSION}`;

const load = createRequire(__filename);
const { version } = load('../../../package.json') as { version: string };

/** Version of this package. */
export const VERSION = version;

/** `metadata.package_version`: says at a glance that the embedded service predicted, not the hosted one. */
export const PACKAGE_VERSION = `embedded-${version}`;

/** The one model version there is; also `model_path` in metadata. */
export const MODEL_VERSION = 'embedded';
