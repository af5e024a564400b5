import type { CleaningChoices } from '../../scoring/types';
import type { CLEANING } from '../../settings';
import type { ReadSetting } from '../fields/settings-reader';

/** How the cells of a table are read. @throws ServiceError `config.invalid`, `validation.failed` */
export function readCleaning(read: ReadSetting<typeof CLEANING>): Omit<CleaningChoices, 'missingTarget'> {
  return {
    missingWords: read('missingWords'),
    unreadable: read('unreadable'),
    timezone: read('timezone'),
  };
}
