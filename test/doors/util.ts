/** What tests reach of src/util beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { Pace } from '../../dist/src/util/event-loop';
export { Slots } from '../../dist/src/util/semaphore';
export { Turnstile } from '../../dist/src/util/turnstile';
