import { ServiceError } from '../wire/service-error';
import { OUTPUT_TYPES, type Task } from '../wire/vocabulary';

/**
 * A request asks a model for another task, or for an output of another task. A node says the same in the words of its
 * dialog, so what was asked is separate from the message.
 */
export class ModelMismatch extends ServiceError {
  constructor(
    /** The setting that asks for it. */
    readonly setting: 'task' | 'outputType',
    readonly asked: string,
    /** The model's own task. */
    readonly task: Task,
  ) {
    super(
      'config.invalid',
      setting === 'task'
        ? `The model was fitted for ${task}: it cannot be used for ${asked}. Leave the task empty.`
        : `A ${task} model has no output type ${asked}: choose ${OUTPUT_TYPES[task].join(', ')}.`,
    );
  }
}
