import type { Connection, Hooks } from '../../scoring';
import { ServiceError } from '../../wire/service-error';
import { modelChanged } from '../model-changed';
import type { Message, Red } from '../node-red';
import type { StatusLine } from '../status/status-line';
import type { PredictDef } from './predict';

/** A message that brings a model in place of rows. */
export interface TakeRequest {
  file: Buffer;
}

/**
 * The model that a message brings, where the node takes models; undefined for a message of rows.
 * @throws ServiceError `validation.failed` for one that is no Buffer
 */
export function takeRequest({ takeModel }: PredictDef, msg: Message): TakeRequest | undefined {
  const { model_file: file } = msg;
  if (takeModel !== 'on' || file === undefined || file === null) {
    return undefined;
  }
  if (!(file instanceof Uint8Array)) {
    throw new ServiceError(
      'validation.failed',
      'msg.model_file must be a Buffer, as a fit node sends it: let an MQTT node output a Buffer.',
    );
  }
  return { file: Buffer.from(file.buffer, file.byteOffset, file.length) };
}

export function isTake(request: object): request is TakeRequest {
  return 'file' in request;
}

/** Takes the model in, and shows which version it is here. The same one again changes nothing. */
export async function takeIn(
  red: Red,
  connection: Connection,
  { file }: TakeRequest,
  status: StatusLine,
  hooks: Hooks,
): Promise<void> {
  const { card, isNew } = await connection.takeModel(file, hooks);
  if (isNew) {
    modelChanged(red, card.name);
  }
  status.show('ready', isNew ? 'taken.new' : 'taken.same', { version: card.version });
}
