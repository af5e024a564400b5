import { setImmediate as immediate } from 'node:timers/promises';

import type { Hooks, PredictLoad, Predictor, PredictOutcome, PredictRequest } from '../../../scoring';
import { PREDICT } from '../../../settings';
import type { UsedConfig } from '../../config/use-config';
import { settingsReader } from '../../fields/settings-reader';
import type { FlowNode, Message, Red } from '../../node-red';
import { type Progress, type Shown, StatusLine } from '../../status/status-line';
import { causeTextOf } from './cause-words';
import { inWordsOfUser } from './model-mismatch';
import type { PredictDef } from './predict-request';

export interface NodePredictor {
  /** Predicts, when it is the request's turn. */
  predict(request: PredictRequest, hooks: Hooks): Promise<PredictOutcome>;
  /** Acts on `msg.reset` and `msg.flush`; true where the message was such a control message. */
  control(msg: Message): boolean;
  /**
   * If the model is not known yet, lets a fit that was requested earlier begin: a fit node takes a few more turns of
   * the event loop to read its message, and a predict waits only for a fit that has begun.
   */
  awaitFit(request: PredictRequest): Promise<void>;
  /**
   * Whether the message passes on without a prediction: its model does not exist yet, and the dialog allows it.
   * @throws ServiceError `storage.failed` where nobody can know
   */
  passes(request: PredictRequest): boolean;
  close(): Promise<void>;
}

/** The predictor of one predict node, created with the first message. */
export function predictorOf(red: Red, node: FlowNode, def: PredictDef, config: UsedConfig): NodePredictor {
  let made: Predictor | undefined;
  let billed: Shown | undefined;

  const read = settingsReader(red, node, PREDICT, def);

  const make = (): Predictor =>
    config.connection().predictor({
      batchRows: read('batchRows'),
      batchMs: read('batchMs'),
      ordered: read('ordered'),
      queueRows: read('queue'),
      overflow: read('overflow'),
      retryPredict: read('retryPredict'),
      noModel: read('noModel') === 'wait' ? 'wait' : 'error',
      maxCost: read('maxCost'),
      onLoad: (load) => showLoad(StatusLine.of(node, red), load, billed),
      onWarning: (warning) => node.warn(warning),
      causeText: causeTextOf(red),
    });

  return {
    async predict(request, hooks) {
      try {
        made ??= make();
        const outcome = await made.predict(request, hooks);
        billed = billedAs(outcome.metadata);
        if (billed !== undefined) {
          showLoad(StatusLine.of(node, red), made.load(), billed);
        }
        return outcome;
      } catch (error) {
        throw inWordsOfUser(red, node, def, error);
      }
    },
    control(msg) {
      if (raised(msg.reset)) {
        made?.reset();
        return true;
      }
      if (raised(msg.flush)) {
        made?.flush();
        return true;
      }
      return false;
    },
    async awaitFit({ model }) {
      if (typeof model !== 'string' || config.connection().cards.has(model)) {
        return;
      }
      await immediate();
    },
    passes({ model }) {
      if (typeof model !== 'string' || read('noModel') !== 'pass') {
        return false;
      }
      const { cards } = config.connection();
      cards.assertUsable();
      return !cards.has(model) && cards.byFittedId(model) === undefined && cards.fitEnd(model) === undefined;
    },
    async close() {
      await made?.close();
    },
  };
}

function raised(flag: unknown): boolean {
  return flag !== undefined && flag !== false && flag !== null;
}

/** What a metered service says that it billed: the version of the model, and whether that was in its cache. */
function billedAs({
  billing_model_version: version,
  cache_outcome: cache,
}: Record<string, unknown>): Shown | undefined {
  if (version === undefined && cache === undefined) {
    return undefined;
  }
  const values = { model: shortText(version), cache: shortText(cache) };
  if (values.model !== '' && values.cache !== '') {
    return { key: 'billed.both', values };
  }
  if (values.model !== '') {
    return { key: 'billed.model', values };
  }
  return values.cache === '' ? undefined : { key: 'billed.cache', values };
}

function shortText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 40) : '';
}

function showLoad(status: StatusLine, load: PredictLoad, billed: Shown | undefined): void {
  const { inFlight, waiting, forModel = 0 } = load;
  const progress: Progress = { phase: 'predicting', in_flight: inFlight, waiting };
  if (forModel > 0 && inFlight === 0) {
    status.show('waiting', 'load.forModel', { waiting: forModel }, progress);
  } else if (waiting > 0) {
    status.show('busy', 'load.waiting', { inFlight, waiting }, progress);
  } else if (inFlight > 0) {
    status.show('busy', 'load.inFlight', { inFlight }, progress);
  } else {
    status.rest(billed);
  }
}
