import { toWireMetadata } from '../../../wire/dialect';
import { bringsRows, parsePredict } from '../../../wire/parse-requests';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES } from '../../../wire/vocabulary';
import { invalid } from '../../refusal';
import { fileRef } from '../../store/entries/file-ref';
import { accept, type Route } from '../context';
import { applyConfig } from './config';
import { answerRows } from './predict-rows';
import { abortedWith, joinJson, metadataOf, modelFor, score } from './score';

/**
 * S 4.4. Columns are found by name: their order is free, extra ones are ignored and listed in
 * `metadata.ignored_columns`, a missing one is 422.
 */
export const predictRoute: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  withConfig: true,
  takesRows: true,
  async handle(context, request) {
    if (bringsRows(request.body)) {
      return answerRows(context, request);
    }
    const { body, apiName, res } = request;
    const { value: asked, ignored } = accept(parsePredict(body, { apiName }));
    const { uploads } = context.store;
    const model = modelFor(context, asked.fitted_train_set_id, asked.task);
    const upload = uploads.get(asked.test_set_upload_id.toLowerCase(), 'test');
    if (upload.entry.fittedId !== model.id) {
      throw invalid(
        `The test set upload ${upload.entry.id} was prepared for the fitted train set ` +
          `${upload.entry.fittedId ?? ''}, not for ${model.id}.`,
      );
    }
    const applied = applyConfig(model, asked.svc_config, ignored);
    const outcome = await uploads.reading(upload, () =>
      score(context, model, {
        x: fileRef(upload, 'x'),
        outputType: asked.output_type ?? DEFAULT_OUTPUT_TYPE[asked.task],
        quantiles: asked.quantiles ?? DEFAULT_QUANTILES,
        options: applied.options,
        explain: applied.explain,
        signal: abortedWith(res),
      }),
    );
    const metadata = toWireMetadata(metadataOf(model, applied, outcome), { apiName });
    return { status: 200, body: joinJson(outcome.json, metadata) };
  },
};
