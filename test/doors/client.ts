/** What tests reach of src/client beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { AnswerTooLong, exchange, type HttpRequest } from '../../dist/src/client/http';
export { proxyFor } from '../../dist/src/client/http';
export { backOff, retryAfter } from '../../dist/src/client/pacing';
export { Call } from '../../dist/src/client/pacing';
export { Notices } from '../../dist/src/client/pacing';
export { maxPredictBytes } from '../../dist/src/client/predict';
export { type RequestFailure, RULES, type Verdict, verdict } from '../../dist/src/client/retry';
export { Secrets } from '../../dist/src/client/secrets';
export { ServiceClient } from '../../dist/src/client/service-client';
export { type ClientOptions } from '../../dist/src/client/settings';
export { readBeforeFailing } from '../../dist/src/client/socket';
export { planChunks } from '../../dist/src/client/transfer';
export { signedUrl, uploadHeaders } from '../../dist/src/client/transfer';
export { type PredictCall, type TestSetUpload } from '../../dist/src/client/types';
