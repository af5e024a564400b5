import { setImmediate as immediate } from 'node:timers/promises';

import type { PredictLoad, Predictor, PredictRequest } from '../../scoring';
import type { UsedConfig } from '../config/use-config';
import { fromEnvironment } from '../fields/environment';
import { choiceField, flagField, numberField } from '../fields/fields';
import type { FlowNode, Message, Red } from '../node-red';
import { type Progress, StatusLine } from '../status/status-line';
import type { PredictDef } from './predict-request';

/** Bytes that may wait in one node's queue. */
const QUEUE_BYTES = 64 * 1024 * 1024;

export interface NodePredictor {
  /** @throws ServiceError `config.invalid`, `auth.unauthorized` */
  get(): Predictor;
  /** Acts on `msg.reset` and `msg.flush`; true where the message was such a control message. */
  control(msg: Message): boolean;
  /**
   * Lets a fit that was asked for before this message begin, where the model is not known yet: a fit node takes
   * a few more turns to read its message, and a message waits only for a fit that has begun.
   */
  awaitFit(request: PredictRequest): Promise<void>;
  /** True where a message passes on without a prediction: its model is not there yet, and the dialog lets it pass. */
  passes(request: PredictRequest): boolean;
  close(): Promise<void>;
}

/** The predictor of one predict node, made with its first message. */
export function predictorOf(red: Red, node: FlowNode, def: PredictDef, config: UsedConfig): NodePredictor {
  let made: Predictor | undefined;

  const make = (): Predictor => {
    const env = (value: unknown): string => fromEnvironment(red, node, value);
    const number = (label: string, value: unknown, range: { min: number; max?: number; integer?: boolean }) =>
      numberField(range, { place: `The field ${label}`, value: env(value) });
    return config.connection().predictor({
      batchRows: number('Batch rows', def.batchRows, { min: 1, integer: true }) ?? 500,
      batchMs: number('Batch wait', def.batchMs, { min: 0, max: 3_600_000 }) ?? 0,
      ordered: def.ordered !== false,
      queueRows: number('Queue', def.queue, { min: 1, integer: true }) ?? 100_000,
      queueBytes: QUEUE_BYTES,
      overflow:
        choiceField(['reject', 'dropOldest'], { place: 'The field When full', value: env(def.overflow) }) ??
        'reject',
      retryPredict: flagField(def.retryPredict, false),
      noModel: noModel(def, env) === 'wait' ? 'wait' : 'error',
      maxCost: number('Highest cost', def.maxCost, { min: 0 }) ?? 0,
      onLoad: (load) => showLoad(StatusLine.of(node, red), load),
      onWarning: (warning) => node.warn(warning),
    });
  };

  return {
    get: () => (made ??= make()),
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
      const env = (value: unknown): string => fromEnvironment(red, node, value);
      if (typeof model !== 'string' || noModel(def, env) !== 'pass') {
        return false;
      }
      const { cards } = config.connection();
      return !cards.has(model) && cards.byFittedId(model) === undefined && cards.fitEnd(model) === undefined;
    },
    async close() {
      await made?.close();
    },
  };
}

function noModel(def: PredictDef, env: (value: unknown) => string): 'error' | 'pass' | 'wait' {
  return (
    choiceField(['error', 'pass', 'wait'], { place: 'The field No model yet', value: env(def.noModel) }) ??
    'error'
  );
}

function raised(flag: unknown): boolean {
  return flag !== undefined && flag !== false && flag !== null;
}

function showLoad(status: StatusLine, load: PredictLoad): void {
  const { inFlight, waiting, forModel = 0 } = load;
  const progress: Progress = { phase: 'predicting', in_flight: inFlight, waiting };
  if (forModel > 0 && inFlight === 0) {
    status.show('waiting', 'load.forModel', { waiting: forModel }, progress);
  } else if (waiting > 0) {
    status.show('busy', 'load.waiting', { inFlight, waiting }, progress);
  } else if (inFlight > 0) {
    status.show('busy', 'load.inFlight', { inFlight }, progress);
  } else {
    status.rest();
  }
}
