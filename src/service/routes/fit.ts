import { parseFit } from '../../wire/parse-requests';
import { answerLate } from '../http/late-answer';
import { accept, type Route } from './context';

/**
 * S 4.3. The answer carries, beside the id, `status` (always `completed`), `reused` (an earlier fit answered),
 * `report` (scores, importance and what the options did) and `ignored_options`: what of the request had no effect.
 */
export const fit: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'fit',
  withConfig: true,
  async handle({ fits, options, log }, { res, body, apiName }) {
    const { value, ignored } = accept(parseFit(body, { apiName }));
    const answer = fits.fit(value).then(({ entry, reused }) => ({
      fitted_train_set_id: entry.id,
      status: 'completed',
      reused,
      report: entry.report,
      ignored_options: [...entry.ignoredOptions, ...ignored].sort(),
    }));
    await answerLate(res, answer, options.keepaliveMs, 'quickstart', log);
    return undefined;
  },
};
