import { ServiceError } from '../../wire/service-error';
import type { Hooks, TrainRequest } from '../types';
import type { Context } from './context';

/** An on-premises endpoint keeps nothing: there are no ids of uploads. @throws ServiceError `config.invalid` */
export function assertKeepsUploads({ onPrem }: Pick<Context, 'onPrem'>, what: string): void {
  if (onPrem) {
    throw new ServiceError(
      'config.invalid',
      `An on-premises endpoint keeps no uploads, so ${what}. Give the table to the fit node or the predict node.`,
    );
  }
}

/** What of a fit such an endpoint has no way for. @throws ServiceError `config.invalid` */
export function checkOnPremFit(
  { onPrem }: Pick<Context, 'onPrem'>,
  { thinking, systems = [] }: Pick<TrainRequest, 'thinking' | 'systems'>,
  { onWarning }: Hooks,
): void {
  if (!onPrem) {
    return;
  }
  if (thinking?.effort !== undefined || systems.includes('thinking')) {
    throw new ServiceError(
      'config.invalid',
      'An on-premises endpoint has no thinking fits: leave Thinking empty in the fit node.',
    );
  }
  if (systems.length > 0) {
    onWarning?.('The field Systems has no effect: an on-premises endpoint takes no list of systems.');
  }
}
