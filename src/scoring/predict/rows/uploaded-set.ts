import { missingOf } from '../../../client/errors';
import { ServiceError, toServiceError } from '../../../wire/service-error';
import type { ResolvedModel } from '../../models/model-request';
import type { UploadCard } from '../../types';
import { noteIfDead, predictUpload, type Scored } from '../test-set/test-set';
import { type Attached, LoneTable, ROW_BYTES, type Scoring } from './message-table';

/** A test set that was uploaded before. */
export class UploadedSet extends LoneTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;

  /** @param card where it was uploaded from here */
  constructor(
    private readonly id: string,
    private readonly card: UploadCard | undefined,
  ) {
    super();
  }

  async score({ context, model: named, options }: Scoring): Promise<Scored> {
    const { id, card } = this;
    // A test set belongs to the model that it was uploaded for, even if its name now refers to a newer one.
    const model: ResolvedModel = {
      ...named,
      fittedId: card?.fitted_train_set_id ?? named.fittedId,
      classes: card?.classes ?? named.classes,
    };
    if (model.relativeTo !== undefined) {
      throw new ServiceError(
        'config.invalid',
        `The model "${model.name}" predicts the change from "${model.relativeTo}", and the rows of an upload are not here to add it to: give the table to the predict node.`,
      );
    }
    const letGo = context.cards.hold(model.fittedId);
    try {
      return await predictUpload(context, model, id, options);
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (missingOf(error) === 'model') {
        throw noteIfDead(context, model, error);
      }
      // The upload id may be the wrong one, so the model is not marked dead.
      throw error.code === 'not_found' || error.code === 'model.unknown'
        ? new ServiceError(
            'not_found',
            `The service has no test set ${id}, or no model ${model.name}: ${error.message}`,
            error.cause,
          )
        : error;
    } finally {
      letGo();
    }
  }

  /** Its rows are not here. */
  attach(): Attached {
    return {};
  }
}
