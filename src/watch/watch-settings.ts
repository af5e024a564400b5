import { knownZone, localZone } from '../table/cells/parse-date';
import { ServiceError } from '../wire/service-error';
import type { AlarmOptions, WatchOptions } from './types';

/** Options with defaults filled in. */
export interface WatchSettings {
  honest: boolean;
  worse: number;
  recovered: number;
  alarm: AlarmOptions;
  keep: number;
  perKey: boolean;
  /** IANA name. */
  timezone: string;
}

/** @throws ServiceError `config.invalid` for a zone that is not known */
export function watchSettings(options: WatchOptions): WatchSettings {
  const { honest = true, worse = 0.15, recovered = 0.05, alarm = {}, keep = 2000, perKey = false } = options;
  return {
    ...{ honest, worse, recovered: Math.min(recovered, worse), alarm, keep: Math.max(1, keep), perKey },
    timezone: zoneOf(options.timezone),
  };
}

function zoneOf(name: string | undefined): string {
  const zone = name === undefined ? localZone() : knownZone(name);
  if (zone === undefined) {
    throw new ServiceError(
      'config.invalid',
      `The time zone "${name}" is not known. Give an IANA name such as Europe/Berlin.`,
    );
  }
  return zone;
}
