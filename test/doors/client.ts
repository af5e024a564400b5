/** What tests reach of src/client beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { maxPredictBytes } from '../../dist/src/client/calls/answer-size';
export { readBeforeFailing } from '../../dist/src/client/http/early-answer';
export { AnswerTooLong, exchange, type HttpRequest } from '../../dist/src/client/http/exchange';
export { proxyFor } from '../../dist/src/client/http/proxy';
export { backOff, retryAfter } from '../../dist/src/client/retry/backoff';
export { Call } from '../../dist/src/client/retry/deadline';
export { Notices } from '../../dist/src/client/retry/notices';
export { type RequestFailure, RULES, type Verdict, verdict } from '../../dist/src/client/retry/verdict';
export { Secrets } from '../../dist/src/client/secrets';
export { ServiceClient } from '../../dist/src/client/service-client';
export { planChunks } from '../../dist/src/client/storage/chunks';
export { signedUrl, uploadHeaders } from '../../dist/src/client/storage/signed-target';
export { type ClientOptions, type PredictCall, type TestSetUpload } from '../../dist/src/client/types';
