import { ServiceError } from '../../../wire/service-error';
import type { KeptVersion, VersionedModel } from './versioned-model';

/**
 * The version that a roll back puts in charge.
 * @param model that of this name, if there is one
 * @param to `true` for the one before the one in charge, or the number of any that is kept
 * @throws ServiceError `model.unknown`; `rollback.impossible` where it is not there, or the service has lost it
 */
export function earlierVersion(
  model: VersionedModel | undefined,
  name: string,
  to: true | number,
): { model: VersionedModel; version: KeptVersion } {
  if (model === undefined) {
    throw new ServiceError('model.unknown', `There is no model "${name}": there is nothing to roll back.`);
  }
  const version = to === true ? [...model.before()].find((one) => one.deadAt === undefined) : model.find(to);
  if (version === undefined || version.deadAt !== undefined) {
    throw rollbackImpossible(model, to, version);
  }
  return { model, version };
}

function rollbackImpossible(
  model: VersionedModel,
  to: true | number,
  dead: KeptVersion | undefined,
): ServiceError {
  const { name, inCharge } = model;
  const kept = model.versions.map(({ version }) => version).reverse();
  const why =
    dead !== undefined
      ? `the service does not have version ${dead.version} any more`
      : to !== true
        ? `there is no version ${to}`
        : `nothing that the service still has was in charge before version ${inCharge.version}`;
  return new ServiceError(
    'rollback.impossible',
    `The model "${name}" cannot be rolled back: ${why}. Kept are: ${kept.join(', ')}; version ${inCharge.version} is in charge.`,
  );
}
