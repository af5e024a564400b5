import type { TrainRequest, UploadCard } from '../../scoring/types';
import { ServiceError } from '../../wire/service-error';
import { type CleaningDef, cleaningFields } from '../fields/cleaning-fields';
import { fromEnvironment, inside, insideOptions } from '../fields/environment';
import {
  candidates,
  choiceField,
  flagField,
  listField,
  numberField,
  objectField,
  textField,
} from '../fields/fields';
import { type MissingTargetDef, missingTargetField } from '../fields/missing-target-field';
import { typesField } from '../fields/types-field';
import type { CollectDef, TableCollector } from '../input/table-collector';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';

/** The fit node as it stands in a flow file. */
export interface FitDef extends FlowNodeDef, CleaningDef, MissingTargetDef, CollectDef {
  config?: string;
  target?: string;
  ignore?: string | string[];
  types?: string | Record<string, string>;
  task?: string;
  model?: string;
  systems?: string | string[];
  options?: string | Record<string, unknown>;
  thinkingEffort?: string;
  thinkingTimeout?: string | number;
  thinkingMetric?: string;
  holdout?: string | number;
  order?: string;
  embargo?: string | number;
  group?: string;
  relativeTo?: string;
  forceRefit?: boolean;
}

const SYSTEMS = ['preprocessing', 'text', 'thinking'];

/** What a message asks of the fit node; undefined for a part of a sequence that goes on. */
export async function fitRequest(
  red: Red,
  node: FlowNode,
  def: FitDef,
  tables: TableCollector,
  msg: Message,
): Promise<TrainRequest | undefined> {
  const id = textField({ place: 'msg.train_set_upload_id', value: msg.train_set_upload_id });
  const table = id === undefined ? await tables.read(msg) : undefined;
  if (id === undefined && table === undefined) {
    return undefined;
  }
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  const target = textField(...candidates('Target', env(def.target), 'target', msg));
  if (id === undefined && target === undefined) {
    throw new ServiceError(
      'target.missing',
      'No target is named: fill in the column to predict, or set msg.target.',
    );
  }
  return {
    ...(id === undefined ? { table } : { trainSetUploadId: id, upload: uploadCard(msg, id) }),
    target,
    ignore: listField({ place: 'The field Ignore', value: inside(red, node, def.ignore) }),
    types: typesField(inside(red, node, def.types)),
    task: task(env(def.task), msg),
    model: modelName(env(def.model), node, msg),
    description: textField({ place: 'msg.description', value: msg.description }),
    forceReupload: flagField(false, msg.force_reupload),
    forceRefit: flagField(def.forceRefit, msg.force_refit),
    systems: systems(inside(red, node, def.systems)),
    options: objectField(...candidates('Options', insideOptions(red, node, def.options), 'options', msg)),
    thinking: thinking(def, env),
    ...cleaningFields(def, msg, (value) => inside(red, node, value)),
    missingTarget: missingTargetField(env(def.missingTarget), msg),
    holdout: numberField({ min: 0, max: 50 }, { place: 'The field Hold back', value: env(def.holdout) }),
    order: order(env(def.order), msg),
    embargo: numberField(
      { min: 0, integer: true },
      ...candidates('Embargo', env(def.embargo), 'embargo', msg),
    ),
    group: textField(...candidates('Group', env(def.group), 'group', msg)),
    relativeTo: textField(...candidates('Relative to', env(def.relativeTo), 'relative_to', msg)),
  };
}

/** The upload's card, where the message still carries the one of this id. */
function uploadCard(msg: Message, id: string): UploadCard | undefined {
  const card = msg.upload as Partial<UploadCard> | undefined | null;
  return card?.id === id && card.set === 'train' ? (card as UploadCard) : undefined;
}

/** `auto` leaves the choice open, so the message may make it. */
function task(dialog: string, msg: Message): TrainRequest['task'] {
  const open = dialog === 'auto' ? '' : dialog;
  return (
    choiceField(['auto', 'classification', 'regression'], ...candidates('Task', open, 'task', msg)) ?? 'auto'
  );
}

/** `auto` leaves the choice open, so the message may make it. */
function order(dialog: string, msg: Message): TrainRequest['order'] {
  const open = dialog === 'auto' ? '' : dialog;
  return choiceField(['auto', 'time', 'none'], ...candidates('Order of rows', open, 'order', msg)) ?? 'auto';
}

function modelName(dialog: string, node: FlowNode, msg: Message): string {
  return textField(...candidates('Keep as', dialog.trim(), 'model_name', msg)) ?? (node.name || node.id);
}

function systems(value: unknown): string[] | undefined {
  const list = listField({
    place: 'The field Systems',
    value: Array.isArray(value) && value.length === 0 ? '' : value,
  });
  const unknown = list?.find((name) => !SYSTEMS.includes(name));
  if (unknown === undefined) {
    return list;
  }
  throw new ServiceError(
    'config.invalid',
    `The field Systems names "${unknown}"; known are ${SYSTEMS.join(', ')}.`,
  );
}

function thinking(def: FitDef, env: (value: unknown) => string): TrainRequest['thinking'] {
  const effort = choiceField(['medium', 'high'], {
    place: 'The field Thinking',
    value: env(def.thinkingEffort),
  });
  if (effort === undefined) {
    return undefined;
  }
  return {
    effort,
    timeoutSecs: numberField(
      { min: 1 },
      { place: 'The field Thinking time', value: env(def.thinkingTimeout) },
    ),
    metric: textField({ place: 'The field Metric', value: env(def.thinkingMetric) }),
  };
}
