import type { TrainResult } from '../../../scoring';
import type { Message } from '../../node-red';

/** Puts the card of a model into the message, and removes what requested the fit: it must not affect a later node. */
export function answerFit(
  msg: Message,
  { card, challenger }: Pick<TrainResult, 'card' | 'challenger'>,
): Message {
  delete msg.train_set_upload_id;
  delete msg.force_reupload;
  delete msg.force_refit;
  delete msg.rollback;
  delete msg.threshold;
  msg.fitted_train_set_id = card.fitted_train_set_id;
  msg.model = card;
  msg.cleaned = card.cleaned;
  delete msg.challenger;
  if (challenger !== undefined) {
    msg.challenger = challenger;
  }
  return msg;
}
