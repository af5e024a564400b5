import { parseLegacyPredict } from '../../../wire/parse-requests';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES } from '../../../wire/vocabulary';
import { bytesOf, readForm } from '../../http/form';
import { invalid } from '../../refusal';
import type { SenderPatience } from '../../slow-body';
import { accept, type Route, type RouteRequest } from '../context';
import { applyConfig } from './config';
import { abortedWith, modelFor, score } from './score';

/** The form is held in memory while it is taken apart. */
const MAX_FORM_BYTES = 16 * 1024 * 1024;

/** Fields of `data` that are not part of the model configuration. */
const NOT_OPTIONS = new Set(['model_id', 'task', 'output_type', 'systems']);

/** S 4.7, deprecated. `model_id` is the id of a fitted train set. */
export const legacyPredict: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  rawBody: true,
  async handle(context, request) {
    const started = performance.now();
    const { data, file } = await readParts(request, context.options.times.body);
    const { value: sent } = accept(parseLegacyPredict(data));
    const model = modelFor(context, sent.model_id, sent.task);
    const config = Object.entries(sent).filter(([name]) => !NOT_OPTIONS.has(name));
    const applied = applyConfig(model, Object.fromEntries(config));
    const outcome = await score(context, model, {
      x: { data: file, format: 'csv' },
      outputType: sent.output_type ?? DEFAULT_OUTPUT_TYPE[sent.task],
      quantiles: DEFAULT_QUANTILES,
      options: applied.options,
      signal: abortedWith(request.res),
    });
    const params = { ...applied.config, differentiable_input: false, n_jobs: null };
    const rest = {
      duration_seconds: (performance.now() - started) / 1000,
      task: model.task,
      params,
      used_credits: 0,
      remaining_quota: Number.MAX_SAFE_INTEGER,
    };
    const tail = JSON.stringify(rest).slice(1);
    const body = Buffer.concat([Buffer.from('{"prediction":'), outcome.json, Buffer.from(`,${tail}`)]);
    return { status: 200, body };
  },
};

/** The two parts of the form. @throws Refusal 413, or 422 naming the part */
async function readParts(
  { req }: RouteRequest,
  patience: SenderPatience,
): Promise<{ data: unknown; file: Uint8Array }> {
  const form = await readForm(req, MAX_FORM_BYTES, patience);
  const stray = [...form.keys()].find((name) => name !== 'data' && name !== 'file');
  if (stray !== undefined) {
    throw invalid(`Invalid request: ${stray} is an unknown part of the form.`);
  }
  const data = form.get('data');
  const file = form.get('file');
  if (data === null) {
    throw invalid('Invalid request: the part "data" (JSON) is required.');
  }
  if (file === null) {
    throw invalid('Invalid request: the part "file" (CSV) is required.');
  }
  const text = typeof data === 'string' ? data : await data.text();
  try {
    return { data: JSON.parse(text) as unknown, file: await bytesOf(file) };
  } catch {
    throw invalid('Invalid request: the part "data" is not valid JSON.');
  }
}
