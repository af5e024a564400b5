import type { Hooks } from '../../models/types';
import { PREDICT } from '../../settings';
import { ServiceError } from '../../wire/service-error';
import type { UsedConfig } from '../config/use-config';
import { settingsReader } from '../fields/settings-reader';
import { modelChanged } from '../model-changed';
import { type FlowNode, type Message, type Red, text } from '../node-red';
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

/**
 * Takes models in, and shows which version each is here. The same one again changes nothing. Warns of one that the node
 * does not predict with.
 */
export function modelTaker(
  red: Red,
  node: FlowNode,
  def: PredictDef,
  config: UsedConfig,
): (request: TakeRequest, status: StatusLine, hooks: Hooks) => Promise<void> {
  return async ({ file }, status, hooks) => {
    const { card, isNew } = await config.connection().takeModel(file, hooks);
    if (isNew) {
      modelChanged(red, card.name);
      const own = settingsReader(red, node, PREDICT, def)('model');
      if (own !== undefined && own !== card.name) {
        node.warn(text(red, 'warning.otherTaken', { model: card.name, own }));
      }
    }
    status.show('ready', isNew ? 'taken.new' : 'taken.same', { version: card.version });
  };
}
