import { ServiceError } from '../../wire/service-error';
import type { HttpAnswer, HttpRequest } from './exchange';

const MAX_HOPS = 3;

/**
 * Sends a request and follows redirects that stay on its origin and keep its method. Any other is an error: what
 * leaves the origin would take the table, and the token if it were sent, to somebody else.
 * @throws ServiceError `response.invalid`
 */
export async function followed(
  request: HttpRequest,
  send: (request: HttpRequest) => Promise<HttpAnswer>,
  what: string,
): Promise<HttpAnswer> {
  let current = request;
  for (let hops = 0; ; hops += 1) {
    const answer = await send(current);
    const location = answer.headers.location;
    if (answer.status < 300 || answer.status > 399 || location === undefined) {
      return answer;
    }
    const keepsMethod = answer.status === 307 || answer.status === 308 || current.method === 'GET';
    const next = URL.canParse(location, current.url.href) ? new URL(location, current.url) : undefined;
    if (next?.origin !== current.url.origin) {
      const where = next === undefined ? 'nowhere' : next.origin;
      throw refused(
        what,
        answer,
        `to ${where}, which is another address; if it is the service's, set it as the base URL`,
      );
    }
    if (!keepsMethod) {
      throw refused(what, answer, 'in a way that would lose what is sent');
    }
    if (hops >= MAX_HOPS) {
      throw refused(what, answer, `again and again (${hops} times)`);
    }
    current = { ...current, url: next };
  }
}

function refused(what: string, answer: HttpAnswer, how: string): ServiceError {
  return new ServiceError('response.invalid', `The ${what} is redirected (${answer.status}) ${how}.`, {
    status: answer.status,
  });
}
