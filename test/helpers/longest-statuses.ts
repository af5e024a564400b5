/* The statuses that the catalogues have, with the longest values that are to be expected. */
import { redIn } from '../unit/runtime/fake';
import { catalogue } from './dialogs';

/** Which statuses a node shows: the beginnings of their keys, below `status.` */
const KEYS: Record<string, string[]> = {
  'tabular-fit': ['reading', 'uploading', 'fitting', 'fitted.', 'stays.', 'embedded', 'waitsForDisk'],
  'tabular-predict': ['reading', 'uploading', 'predicting', 'load.', 'noModel', 'billed.cache', 'embedded'],
  'tabular-watch': ['watch.', 'noModel', 'embedded', 'waitsForDisk'],
  'tabular-advise': ['advice.several', 'advice.no', 'predicting', 'embedded'],
  'tabular-series': ['series.', 'reading', 'waitsForDisk'],
  'tabular-anomaly': ['anomaly.', 'series.notOnDisk', 'reading', 'waitsForDisk'],
  'tabular-upload': ['reading', 'uploading', 'uploaded.', 'embedded'],
  'tabular-limits': ['reading', 'limits.', 'embedded'],
  'tabular-cost': ['cost', 'embedded'],
};

/** Those that hold a name, which may be of any length, or for which there is a shorter one. */
const OPEN_ENDED = new Set([
  'advice.one',
  ...['billed.model', 'billed.both', 'series.as', 'series.asValues', 'series.asKey'],
  ...['series.asValue', 'series.asKeyValue'],
  ...['anomaly.unusual', 'anomaly.unusualShort'],
  ...[
    'watch.ofModel',
    'watch.alarmLoss',
    'watch.lossOf',
    'watch.band',
    'watch.right',
    'watch.plain',
    'fitted.version',
  ],
]);

const PARTS = /^(?:time|stays\.loss|watch\.measure)\./;

/** Each status of a node type, or of all nodes, as it reads in a language. */
export function longestStatuses(language: string, type?: string): Map<string, string> {
  const red = redIn(language);
  const word = (key: string, values?: Record<string, string>): string =>
    red._(`node-red-contrib-tabular-prediction/tabular-config:status.${key}`, values);
  const number = (value: number, digits = 0): string =>
    value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const values: Record<string, string> = {
    percent: '99',
    time: word('time.min', { value: '89' }),
    ...{ rows: number(999_999), total: number(999_999), keys: number(999), tokens: number(123_456_789) },
    ...{ inFlight: '256', waiting: number(10_000), early: number(99_999), open: number(99_999) },
    ...{ score: number(-12.34, 2), without: number(-0.02, 2), version: '99', aside: '100' },
    ...{ day: '100', month: '100', count: '12', cache: 'cached' },
    ...{ measure: word('watch.measure.error'), loss: number(0.019, 3), promised: number(0.0033, 4) },
    ...{ own: number(0.709, 3), other: number(0.665, 3) },
  };
  const own: Record<string, Record<string, string>> = {
    'fitted.accuracyOver': { score: number(0.99, 2), without: number(0.98, 2) },
    'fitted.accuracyOverNow': { score: number(0.99, 2), without: number(0.98, 2) },
    'fitted.rocAucOver': { score: number(0.99, 2) },
    'anomaly.learning': { rows: number(6_000), total: number(6_000) },
    'anomaly.knows': {
      time: red._('node-red-contrib-tabular-prediction/tabular-config:status.time.weeks', {
        value: '12',
      }),
    },
    'series.collecting': { rows: number(10_000), total: number(10_000) },
    'series.collectingRare': { rows: '19', total: '20' },
    'series.collectingEvents': { rows: '2', total: '3' },
    'stays.not_better': { loss: word('stays.loss.log_loss') },
  };
  const prefixes = type === undefined ? [''] : KEYS[type]!;
  return new Map(
    [...catalogue(language, 'config').keys()]
      .filter((key) => key.startsWith('status.'))
      .map((key) => key.slice('status.'.length))
      .filter((key) => !PARTS.test(key) && !OPEN_ENDED.has(key))
      .filter((key) => prefixes.some((prefix) => key.startsWith(prefix)))
      .map((key) => [key, word(key, { ...values, ...own[key] })]),
  );
}
