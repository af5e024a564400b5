import { type Advice, type AdviseRequest, Advisor, checkQuestion, type Price } from '../../advise';
import { adviceWords } from '../advise';
import type { Red } from '../node-red';
import { modelAndRow } from './listed-models';

/** Five rounds of predictions. */
const TIMEOUT_MS = 300_000;

/**
 * Answers *Find a setting* of the sidebar, as an advise node would; where the service may charge for it, with the price
 * until a person has agreed to it.
 *
 * @throws ServiceError as an advise node does
 */
export async function findSetting(
  red: Red,
  id: string,
  body: Record<string, unknown>,
): Promise<Advice | { price: Price }> {
  const { connection, card, row } = modelAndRow(red, id, body);
  const { vary, goal, value, sure, candidates, maxCost, agreed } = body;
  // What comes from the form is looked at as what a program asks.
  const asked = { vary, goal, value, sure, candidates, maxCost } as Omit<AdviseRequest, 'row' | 'model'>;
  const request: AdviseRequest = { ...asked, row: [row], model: card, missingColumns: 'fill' };
  checkQuestion(request);
  const predictor = connection.predictor();
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const advisor = new Advisor(connection, predictor, adviceWords(red));
    const price = agreed === true ? undefined : await advisor.price(request, { signal });
    return price === undefined ? (await advisor.advise(request, { signal })).advice : { price };
  } finally {
    await predictor.close();
  }
}
