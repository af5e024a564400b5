import type { PredictOutcome } from '../../../scoring';
import type { TableReader } from '../../input/table-input';
import type { Message } from '../../node-red';

/** Puts the result into the message, and removes what requested it, so that it does not affect a later node. */
export function answerPredict(msg: Message, table: TableReader, outcome: PredictOutcome): Message {
  delete msg.test_set_upload_id;
  delete msg.force_refit;
  if (outcome.table !== undefined) {
    table.write(msg, outcome.table);
  }
  msg.prediction = outcome.prediction;
  msg.metadata = outcome.metadata;
  msg.model_name = outcome.modelName;
  if (outcome.predictedBy === undefined) {
    delete msg.predicted_by;
  } else {
    msg.predicted_by = outcome.predictedBy;
  }
  if (outcome.cleaned === undefined) {
    delete msg.cleaned;
  } else {
    msg.cleaned = outcome.cleaned;
  }
  delete msg.evaluation;
  if (outcome.evaluation !== undefined) {
    msg.evaluation = outcome.evaluation;
  }
  return msg;
}

/** A message without a prediction does not keep one of an earlier node either. */
export function answerUnpredicted(msg: Message): Message {
  delete msg.prediction;
  delete msg.metadata;
  delete msg.predicted_by;
  delete msg.evaluation;
  return msg;
}
