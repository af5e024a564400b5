import { PACKAGE_VERSION } from '../version';
import type { Route } from './context';

/*
 * Routes that the specification does not have and clients of a hosted service call when they start: is the service
 * there, is the token good, is there news, what has been used up.
 */

/** Is the service there? Needs no token. */
export const root: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: () => ({ status: 200, body: { status: 'ok', package_version: PACKAGE_VERSION } }),
};

/** Is the token good? 200, or 401 as everywhere. */
export const checkToken: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle: () => ({ status: 200, body: { valid: true } }),
};

/** Clients ask for news before they have a token. */
export const getGreetings: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: () => ({ status: 200, body: { messages: [] } }),
};

/** Nothing is metered here; −1 is how the route says that there is no limit. */
export const getApiUsage: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rawBody: true,
  handle: () => ({ status: 200, body: { current_usage: 0, usage_limit: -1, reset_time: 'never' } }),
};
