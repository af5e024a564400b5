import { parseFit, parseFitStatus, type SentFit } from '../../wire/parse-requests';
import { answerLate } from '../http/reply';
import { notFound } from '../refusal';
import { accept, missingModel, type Route, type RouteAnswer, type ServiceContext } from './context';

/**
 * S 4.3. The answer carries, besides the id, `status` (always `completed`), `reused` (an earlier fit answered),
 * `report` (scores, importance and what the options did) and `ignored_options`: what of the request had no effect.
 * With `async_mode` it comes at once, like that of `submitFit`.
 */
export const fit: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'fit',
  withConfig: true,
  async handle(context, { res, body, apiName }) {
    const { fits, options, log } = context;
    const { value, ignored } = accept(parseFit(body, { apiName }));
    if (value.async_mode === true) {
      return submit(context, value, ignored);
    }
    const answer = fits.fit(value).then(({ entry, reused }) => ({
      fitted_train_set_id: entry.id,
      status: 'completed',
      reused,
      report: entry.report,
      ignored_options: [...entry.ignoredOptions, ...ignored].sort(),
    }));
    await answerLate(res, answer, { keepaliveMs: options.keepaliveMs, route: 'quickstart', log });
    return undefined;
  },
};

/** Not of the specification: a fit, answered by its id at once. `getFitStatus` says what becomes of it. */
export const submitFit: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'fit',
  withConfig: true,
  handle(context, { body, apiName }) {
    const { value, ignored } = accept(parseFit(body, { apiName }));
    return submit(context, value, ignored);
  },
};

/** Not of the specification. A fit that has failed is 200 too, with `status: failed`, `error` and `error_code`. */
export const getFitStatus: Route = {
  method: 'POST',
  envelope: 'quickstart',
  handle(context, { body }) {
    const { value } = accept(parseFitStatus(body));
    return { status: 200, body: findStatus(context, value.fitted_train_set_id) };
  },
};

/** The same for clients that ask by `GET /{api name}/fit/{id}`. */
export const getFit: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle(context, { id = '' }) {
    if (!/^[0-9a-f-]{36}$/i.test(id)) {
      throw notFound('There is no such fitted train set: the last part of the path must be a UUID.');
    }
    return { status: 200, body: findStatus(context, id) };
  },
};

async function submit(context: ServiceContext, request: SentFit, ignored: string[]): Promise<RouteAnswer> {
  const id = await context.submittedFits.submit(request);
  const { status } = findStatus(context, id);
  return {
    status: 200,
    body: { fitted_train_set_id: id, status, ...(ignored.length > 0 && { ignored_options: ignored.sort() }) },
  };
}

/** @throws Refusal 404 */
function findStatus(context: ServiceContext, sentId: string): { status: string } & Record<string, unknown> {
  const id = sentId.toLowerCase();
  const state = context.submittedFits.findState(id);
  if (state === undefined) {
    throw missingModel(context.store, id);
  }
  const head = { fitted_train_set_id: id, status: state.status };
  switch (state.status) {
    case 'pending':
      return { ...head, progress: state.progress, retry_in_secs: state.retryInSecs };
    case 'failed':
      return { ...head, error: state.message.replace(/\.$/, ''), error_code: state.errorCode };
    case 'completed':
      return { ...head, report: state.report };
  }
}
