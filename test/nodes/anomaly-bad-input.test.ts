import assert from 'node:assert/strict';

import { seededRandom } from '../doors/util';
import { waitFor } from '../helpers/wait';
import { type Bench, startBench, stopBench } from './bench';

const T = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const LEARN = 100;
const YEAR = 365 * 1440 * MINUTE;

type Payload = Record<string, unknown>;

const random = seededRandom(4);
const SOUND = Array.from({ length: 400 }, (_, i): Payload & { time: number; heat: number } => {
  const load = 10 + 5 * Math.sin(i / 20) + random();
  return { time: T + i * MINUTE, load, heat: 20 + 2 * load + random(), flow: 100 - 3 * load + random() };
});
const sound = (row: number) => SOUND[row]!;
const without = (reading: Payload, column: string): Payload =>
  Object.fromEntries(Object.entries(reading).filter(([name]) => name !== column));
const wide = (columns: number, value: unknown): Payload =>
  Object.fromEntries([['time', T], ...Array.from({ length: columns }, (_, i) => [`s${i}`, value])]);

/** What is sent after the sound readings that are learned, and what comes of it. */
interface Case {
  what: string;
  /** What is learned before; left out: sound readings. */
  first?: Payload[];
  send: Payload[];
  /** How its messages end: what is said of them, or the codes of errors, each once. */
  ends: string[];
  error?: RegExp;
  warns?: RegExp;
  status?: RegExp;
  /** Seconds that the last one knows at most. */
  knows?: number;
}

const from = LEARN + 20;
const after = (count: number, change: (reading: ReturnType<typeof sound>, i: number) => Payload): Payload[] =>
  Array.from({ length: count }, (_, i) => change(sound(from + i), i));

const every = (step: number): Pick<Case, 'first' | 'send'> => {
  const readings = SOUND.slice(0, from + 60).map((one, i) => ({ ...one, time: T + i * step }));
  return { first: readings.slice(0, from), send: readings.slice(from) };
};

const CASES: Case[] = [
  {
    what: 'all sensors dead',
    send: after(3, ({ time }, i) => ({
      time,
      load: null,
      heat: ['', 'unavailable', NaN][i],
      flow: undefined,
    })),
    ends: ['validation.failed'],
    error: /no value in any of its columns \(load, heat, flow\): all of its sensors may be dead/,
  },
  {
    what: 'values that are no numbers',
    send: after(8, (reading, i) => ({
      ...reading,
      heat: [NaN, Infinity, -Infinity, '1e999', 1e300, 'NaN', {}, Symbol.iterator.description][i],
    })),
    ends: ['judged'],
  },
  {
    what: 'a column that vanishes',
    send: after(40, (reading) => without(reading, 'heat')),
    ends: ['judged'],
    warns: /^the sensor "heat" has not come for 31 readings/,
  },
  {
    what: 'a new column',
    send: after(40, (reading) => ({ ...reading, extra: 7 })),
    ends: ['judged'],
  },
  {
    what: 'a clock that jumps a year ahead, and back',
    send: after(40, ({ time, ...reading }, i) => ({ ...reading, time: i < 10 ? time + YEAR : time })),
    ends: ['judged', 'late'],
    knows: 4 * 3600,
  },
  {
    what: 'the hour that comes twice in autumn',
    send: after(90, ({ time, ...reading }, i) => ({ ...reading, time: time - (i < 45 ? 0 : 60 * MINUTE) })),
    ends: ['judged', 'late'],
  },
  { what: 'a thousand readings a second', ...every(1), ends: ['judged'] },
  { what: 'a reading an hour', ...every(60 * MINUTE), ends: ['judged'] },
  {
    what: '200 columns of numbers',
    first: [],
    send: [wide(200, 1)],
    ends: ['limit.exceeded'],
    error: /200 columns of numbers.*at most 100 sensors.*Ignore/,
  },
  {
    what: '201 columns of words',
    first: [],
    send: [wide(201, 'x')],
    ends: ['limit.exceeded'],
    error: /Ignore/,
  },
  {
    what: 'words alone',
    first: [],
    send: SOUND.slice(0, LEARN + 10).map(({ time }, i) => ({ time, door: i % 2 === 0 ? 'open' : 'shut' })),
    ends: ['learning'],
    warns: /no column of numbers that varies/,
    status: /anomaly\.nothingVaries$/,
  },
  {
    what: 'two sensors',
    first: SOUND.slice(0, from).map((reading) => without(reading, 'flow')),
    send: after(20, (reading) => without(reading, 'flow')),
    ends: ['judged'],
  },
  {
    what: 'one sensor',
    first: SOUND.slice(0, from).map(({ time, heat }) => ({ time, heat })),
    send: after(20, ({ time, heat }, i) => ({ time, heat: i < 10 ? heat : 500 })),
    ends: ['judged'],
    status: /anomaly\.unusual$/,
  },
  {
    what: 'a sensor that is constant, then not',
    first: SOUND.slice(0, from).map((reading) => ({ ...reading, still: 7 })),
    // The last one alone: a fit that falls due after it learns it, and when one does is up to how quick the last was.
    send: after(9, (reading, i) => ({ ...reading, still: i < 8 ? 7 : 8 })),
    ends: ['judged'],
    status: /anomaly\.new$/,
  },
];

describe('bad input of an anomaly node', function () {
  this.timeout(30_000);
  afterEach(stopBench);

  const ended = ({ completed, caught }: Bench): number => completed.all.length + caught.all.length;
  /** Sends readings one after the other, each when the one before has ended and what is due is learned. */
  async function send(bench: Bench, readings: readonly Payload[]): Promise<void> {
    for (const payload of readings) {
      const before = ended(bench);
      bench.send('a', { payload });
      await waitFor('a message ended', () => (ended(bench) > before ? true : undefined));
    }
  }

  for (const { what, first = SOUND.slice(0, from), send: sent, ends, error, warns, status, knows } of CASES) {
    it(`${what}: each message ends once, and it is said what is wrong`, async () => {
      const bench = await startBench({ nodes: [{ id: 'a', type: 'tabular-anomaly', learn: String(LEARN) }] });
      await send(bench, first);
      if (first.length > 0) {
        await waitFor('learned', () =>
          bench.out('a', 1).all.some(({ change }) => change.what === 'learned') ? true : undefined,
        );
      }
      const before = bench.out('a').all.length;
      await send(bench, sent);
      assert.equal(ended(bench), first.length + sent.length);
      const said = bench
        .out('a')
        .all.slice(before)
        .map(({ anomaly }) =>
          anomaly.learning !== undefined ? 'learning' : anomaly.late ? 'late' : 'judged',
        );
      const codes = bench.caught.all.map((msg) => msg.error!.code!);
      assert.deepEqual([...new Set([...said, ...codes])].sort(), [...ends].sort());
      if (error !== undefined) {
        assert.match(bench.caught.all[0]!.error!.message, error);
      }
      if (warns !== undefined) {
        await waitFor(`a warning ${warns}`, () =>
          bench.warnings().some((text) => warns.test(text)) ? true : undefined,
        );
      }
      if (knows !== undefined) {
        assert.ok(bench.out('a').all.at(-1)!.anomaly.knows < knows);
      }
      if (status !== undefined) {
        await bench.shows('a', status);
      }
    });
  }
});
