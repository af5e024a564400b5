import type { Connection } from '../../connection';
import type { ModelCard } from '../../models/cards';
import { FIT } from '../../settings';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { UsedConfig } from '../config/use-config';
import { settingsReader } from '../fields/settings-reader';
import { scoring } from '../lazy';
import { type FlowNode, type Message, number, type Red, text } from '../node-red';
import { withWords } from './common';
import { answerFit, type FitDef } from './fit';

const MB = 1e6;

/** Hands the models of a fit node to other computers. */
export interface ModelSender {
  /** Puts the model in charge into a message, as `msg.model_file`, where the node or the message wants it. */
  addTo(msg: Message, card: ModelCard): Promise<void>;
  /** Sends a message of its own where another version took charge elsewhere: rolled back, imported. */
  sendChanged(card: ModelCard): void;
}

/** A fit stands, whether its model can be sent or not: a warning says why it is not. */
export function modelSender(red: Red, node: FlowNode, def: FitDef, config: UsedConfig): ModelSender {
  let isToldOfCard = false;
  let isClosed = false;
  node.on('close', () => {
    isClosed = true;
  });

  const fileOf = async (connection: Connection, name: string, mostBytes: number): Promise<Buffer> => {
    const file = await connection.publishModel(name);
    if (file.isCardAlone && !isToldOfCard) {
      isToldOfCard = true;
      node.warn(text(red, 'warning.cardAlone', { model: name }));
    }
    if (file.bytes > mostBytes) {
      throw new ServiceError(
        'limit.exceeded',
        text(red, 'warning.modelTooLarge', { size: number(red, file.bytes / MB, 1), most: mostBytes / MB }),
      );
    }
    return scoring().wholeFile(file);
  };

  const addTo = async (msg: Message, card: ModelCard): Promise<void> => {
    try {
      const read = settingsReader(red, node, FIT, def, withWords(msg, ['send_model']));
      if (read('sendModel') === 'on') {
        // That of an earlier node would be another model.
        delete msg.model_file;
        msg.model_file = await fileOf(config.connection(), card.name, read('modelFileMax') * MB);
      }
    } catch (thrown) {
      const { code, message } = toServiceError(thrown);
      if (code === 'closed') {
        throw thrown;
      }
      node.warn(text(red, 'warning.notSent', { model: card.name, why: message }));
    } finally {
      delete msg.send_model;
    }
  };

  return {
    addTo,
    sendChanged(card) {
      const msg: Message = { _msgid: red.util.generateId() };
      // A fit node that is closed meanwhile has nothing to say.
      const ignore = (): undefined => undefined;
      void addTo(msg, card).then(() => {
        if (msg.model_file !== undefined && !isClosed) {
          node.send(answerFit(msg, { card }));
        }
      }, ignore);
    },
  };
}
