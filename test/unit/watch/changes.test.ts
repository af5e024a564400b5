import assert from 'node:assert/strict';

import { Watch, watchedModel } from '../../doors/watch';
import { CLASSES, DAY, MINUTE, noise, NUMBERS, quantilesAbout, replay, START, type Step } from './support';

function errors(seed: number, likeness: number, spreads: readonly [rows: number, spread: number][]): Step[] {
  const error = noise(seed, likeness);
  return spreads.flatMap(([rows, spread]) =>
    Array.from({ length: rows }, () => ({ prediction: 0, truth: error() * spread })),
  );
}

describe('decay', () => {
  it('is seldom told where nothing has changed, and found where losses are half as high again', () => {
    for (const [likeness, most, least] of [
      [0, 1, 11],
      [0.8, 3, 10],
    ] as const) {
      let false_ = 0;
      let found = 0;
      for (let run = 0; run < 12; run++) {
        const steps = errors(run * 13 + 5, likeness, [
          [1500, 1],
          [1000, 1.5],
        ]);
        const told = replay(steps, { every: DAY }).changes.filter(({ what }) => what === 'decay');
        false_ += told.filter(({ at }) => at <= 1500).length;
        found += told.some(({ at }) => at > 1500) ? 1 : 0;
      }
      assert.ok(false_ <= most, `${false_} false of 18,000 truths at ${likeness}`);
      assert.ok(found >= least, `${found} of 12 found at ${likeness}`);
    }
  });

  it('says since when, what is measured and what was promised; then that it recovered', () => {
    const steps = errors(3, 0, [
      [600, 1],
      [500, 2],
      [600, 1],
    ]);
    const { changes } = replay(steps, { every: DAY });
    assert.deepEqual(
      changes.map(({ what }) => what),
      ['decay', 'recovered'],
    );
    const [decay, recovered] = changes;
    assert.ok(decay!.since >= START + 500 * DAY && decay!.since <= START + 700 * DAY);
    assert.equal(decay!.measure, 'mae');
    assert.equal(decay!.limit, NUMBERS.promised!.mae);
    assert.ok(Number(decay!.value) > 1.15 * decay!.limit!);
    assert.ok(recovered!.at > 1100 && Number(recovered!.value) <= 1.05 * recovered!.limit!);
  });

  it('is told once a day at most, however often it comes and goes', () => {
    // 300 rows a day.
    const flapping = Array.from({ length: 40 }, (_, i): [number, number] => [250, i % 2 === 0 ? 1 : 2]);
    const { changes } = replay(errors(4, 0, flapping), { every: DAY / 300 });
    for (const kind of ['decay', 'recovered']) {
      const times = changes.filter(({ what }) => what === kind).map(({ at }) => at);
      assert.ok(times.length >= 5, `${kind}: ${times.length}`);
      assert.ok(
        times.slice(1).every((at, i) => at - times[i]! >= 299),
        `${kind}: ${times.join(' ')}`,
      );
    }
  });

  it('is told while it is so: not a day later, when the newest losses are good', () => {
    // The second decay comes within a day of the first; then losses are neither too high nor as promised again.
    const back: [number, number][] = [
      ...([
        [300, 1],
        [200, 3],
        [200, 1],
        [200, 3],
      ] as [number, number][]),
      ...([[900, 1.08]] as [number, number][]),
    ];
    for (let seed = 0; seed < 10; seed++) {
      const { changes } = replay(errors(seed, 0, back), { every: DAY / 600 });
      assert.deepEqual(
        changes.slice(0, 2).map(({ what }) => what),
        ['decay', 'recovered'],
      );
      for (const { what, value, limit } of changes) {
        const ratio = Number(value) / limit!;
        assert.ok(what === 'decay' ? ratio > 1.15 : ratio <= 1.05, `${what} at ${ratio}`);
      }
    }
  });

  it('is measured against the first truths where nothing was promised', () => {
    const steps = errors(5, 0, [
      [700, 1],
      [500, 2],
    ]);
    const model = { ...NUMBERS, promised: undefined };
    const { changes } = replay(steps, { model, every: DAY });
    assert.equal(changes.length, 1);
    assert.ok(Math.abs(changes[0]!.limit! - 0.8) < 0.1);
  });

  it('is of each key where it is asked for', () => {
    const watch = new Watch(NUMBERS, { perKey: true });
    const error = noise(6);
    const changes = [];
    for (let i = 0; i < 1000; i++) {
      for (const [key, spread] of [
        ['p1', 1],
        ['p2', i < 500 ? 1 : 3],
      ] as const) {
        const series = { key, time: START + i * DAY };
        watch.predicted({ series, prediction: 0 });
        changes.push(...watch.truth({ series, truth: error() * spread }).changes);
      }
    }
    assert.deepEqual(
      changes.map(({ what, key }) => [what, key]),
      [['decay', 'p2']],
    );
    const { keys, decayed } = watch.report();
    assert.equal(decayed, true);
    assert.deepEqual(
      keys?.map(({ key, decayed, live }) => [key, decayed, live.rows]),
      [
        ['p2', true, 600],
        ['p1', false, 600],
      ],
    );
  });

  it('of keys is what their changes tell: not what all of them would tell together', () => {
    const watch = new Watch(NUMBERS, { perKey: true });
    const error = noise(6);
    const told = new Set<string>();
    // Each key has too few outcomes to tell; all of them together have enough.
    for (let i = 0; i < 1200; i++) {
      const series = { key: `p${i % 6}`, time: START + i * DAY };
      watch.predicted({ series, prediction: 0 });
      watch
        .truth({ series, truth: error() * (i < 300 ? 1 : 2) })
        .changes.forEach(({ what }) => told.add(what));
      assert.equal(watch.report().decayed, told.has('decay'));
    }
  });

  it('is of the mean of all steps ahead, which say much the same', () => {
    const watch = new Watch(NUMBERS);
    const error = noise(8);
    const told: number[] = [];
    for (let i = 0; i < 900; i++) {
      const truth = error() * (i < 600 ? 1 : 2);
      for (let step = 1; step <= 6; step++) {
        const series = { time: START + (i - step) * DAY, ahead: step * DAY };
        watch.predicted({ series, prediction: 0 });
        told.push(...watch.truth({ series, truth }).changes.map(() => i));
      }
    }
    assert.equal(told.length, 1);
    assert.ok(told[0]! >= 650, 'a hundred times, not a hundred losses');
  });
});

describe('drift', () => {
  const edges = [-1.28, -0.84, -0.52, -0.25, 0, 0.25, 0.52, 0.84, 1.28];
  const shares = [...Array.from({ length: 10 }, () => 0.1), 0];
  const drift = [{ column: 'load', reference: { edges, shares }, threshold: 0.4 }];
  const model = { ...NUMBERS, drift };

  function rows(shift: number, truth: (i: number) => number): Step[] {
    const load = noise(9);
    return Array.from({ length: 1500 }, (_, i) => ({
      prediction: 0,
      truth: truth(i),
      row: { load: load() + (i < 700 ? 0 : shift) },
    }));
  }

  it('is the reason beside a decay, and never told by itself while truth comes', () => {
    const error = noise(10);
    const calm = replay(rows(2, error), { model, every: DAY });
    assert.deepEqual(calm.changes, []);
    assert.ok(calm.watch.report().drift[0]!.psi > 0.4);
    const decayed = replay(
      rows(2, (i) => error() * (i < 700 ? 1 : 2)),
      { model, every: DAY },
    );
    const [change] = decayed.changes;
    assert.equal(change?.what, 'decay');
    assert.deepEqual(
      change.why?.map(({ column, threshold }) => [column, threshold]),
      [['load', 0.4]],
    );
  });

  it('is told where no truth comes any more, after that was told', () => {
    const watch = new Watch(model);
    const load = noise(11);
    const changes = [];
    for (let i = 0; i < 1200; i++) {
      const series = { time: START + i * MINUTE, ahead: 10 * MINUTE };
      const row = { load: load() + (i < 700 ? 0 : 2) };
      changes.push(...watch.predicted({ series, prediction: 0, row }).changes);
      if (i >= 10 && i < 500) {
        watch.truth({ series: { time: series.time - 10 * MINUTE, ahead: series.ahead }, truth: 0.5 });
      }
    }
    assert.deepEqual(
      changes.map(({ what }) => what),
      ['no_truth', 'drift'],
    );
    assert.equal(changes[0]!.since, START + 500 * MINUTE);
    const [{ column, moved } = {}] = changes[1]!.why!;
    assert.equal(column, 'load');
    assert.equal(moved!.to, 'from');
    assert.ok(moved!.now > 0.5 && moved!.usual <= 0.3, JSON.stringify(moved));
  });

  it('is told by what there is more of, in numbers, labels and gaps', () => {
    const mode = { categories: ['eco', 'full'], shares: [0.5, 0.5, 0, 0] };
    const moves = (reference: object, value: (i: number) => unknown) => {
      const watch = new Watch({ ...model, drift: [{ column: 'x', reference, threshold: 0.4 } as never] });
      for (let i = 0; i < 300; i++) {
        const series = { time: START + i * MINUTE, ahead: 10 * MINUTE };
        watch.predicted({ series, prediction: 0, row: { x: value(i) } });
      }
      return watch.report().drift[0]!.moved;
    };
    const load = noise(12);
    assert.deepEqual(
      moves(mode, () => 'eco'),
      { to: 'value', value: 'eco', now: 1, usual: 0.5 },
    );
    assert.equal(moves(mode, () => 'new')?.to, 'other');
    assert.equal(moves({ edges, shares }, (i) => (i % 2 ? null : load()))?.to, 'missing');
    assert.equal(moves({ edges, shares }, () => load() - 2)?.to, 'below');
    assert.equal(
      moves(mode, (i) => (i % 2 ? 'eco' : 'full')),
      undefined,
    );
  });

  it('is read from what is kept beside the card', () => {
    const card = {
      ...{ name: 'heat', fitted_train_set_id: 'f', version: 3, train_set_upload_id: 'u', target: 't' },
      ...{
        task: 'regression' as const,
        columns: [],
        rows: 9,
        options: {},
        service: 'embedded',
        fitted_at: '',
      },
      scores: { from: 'holdout' as const, rows: 100, mae: 2, baseline: { rows: 100 } },
      versions: [],
    };
    const columns = (['load', 'time', 'flag'] as const).map((name) => ({
      name,
      type: name === 'time' ? ('date' as const) : ('number' as const),
    }));
    const reference = {
      columns,
      rows: [],
      usual: [],
      drift: columns.map(() => ({ shares: [1], threshold: 1 })),
    };
    reference.drift[2] = { shares: [1] } as never;
    const known = watchedModel(card, reference);
    assert.deepEqual([known.version, known.promised], [3, { rows: 100, mae: 2 }]);
    assert.deepEqual(
      known.drift?.map(({ column }) => column),
      ['load'],
    );
  });
});

describe('no truth', () => {
  const ahead = 10 * MINUTE;
  /** Rows each minute in the spans given, with their truths where asked. */
  function whatIsTold(spans: readonly [from: number, to: number][], withTruth: boolean): string[] {
    const watch = new Watch(NUMBERS);
    const told: string[] = [];
    for (const [from, to] of spans) {
      for (let minute = from; minute < to; minute++) {
        const time = START + minute * MINUTE;
        told.push(
          ...watch.predicted({ series: { time, ahead }, prediction: 0 }).changes.map(({ what }) => what),
        );
        if (withTruth && minute >= from + 10) {
          watch.truth({ series: { time: time - ahead, ahead }, truth: 0 });
        }
      }
    }
    return told;
  }

  it('is told after three times ahead, once, and not of a machine that is off at night', () => {
    assert.deepEqual(whatIsTold([[0, 29]], false), []);
    assert.deepEqual(whatIsTold([[0, 3000]], false), ['no_truth']);
    assert.deepEqual(
      whatIsTold(
        [
          [0, 300],
          [900, 1200],
          [1800, 2100],
        ],
        true,
      ),
      [],
    );
  });

  it('is not missed between the rows of one message, however long, but after it', () => {
    const watch = new Watch(NUMBERS);
    const table = (from: number): string[] =>
      Array.from({ length: 500 }, (_, i) =>
        watch
          .predicted({
            series: { time: START + (from + i) * MINUTE, ahead },
            prediction: 0,
            continues: i > 0,
          })
          .changes.map(({ what }) => what as string),
      ).flat();
    assert.deepEqual(table(0), []);
    watch.truth({ series: { time: START, ahead }, truth: 0 });
    assert.deepEqual(table(500), []);
    assert.deepEqual(table(1000), ['no_truth']);
  });

  it('leaves the loss that the predictions expect', () => {
    const watch = new Watch({ ...CLASSES, promised: { rows: 9, log_loss: 0.4 } });
    watch.predicted({ series: {}, prediction: 'yes', probabilities: { yes: 0.5, no: 0.5 } });
    assert.ok(Math.abs(watch.report().live.estimated! - Math.LN2) < 1e-6);
    const numbers = new Watch(NUMBERS);
    for (let i = 0; i < 600; i++) {
      numbers.predicted({ series: {}, prediction: quantilesAbout(0, i < 300 ? 1 : 2) });
    }
    assert.ok(Math.abs(numbers.report().live.estimated! - 2 * NUMBERS.promised!.mae!) < 1e-6);
  });
});

describe('alarms', () => {
  function turns(values: readonly number[], alarm: object, key = 'p1'): [string, number][] {
    const watch = new Watch(NUMBERS, { alarm });
    return values.flatMap((value, i) =>
      watch
        .predicted({ series: { key, time: START + i * MINUTE }, prediction: quantilesAbout(value) })
        .changes.map(({ what, since }): [string, number] => [what, (since - START) / MINUTE]),
    );
  }

  it('are raised after three readings in a row, and cleared after three below', () => {
    const on = { on: 'value', raise: 100 } as const;
    assert.deepEqual(turns([99, 101, 102, 99, 101, 102, 100, 95, 91, 89, 88, 95, 90, 89, 85, 101], on), [
      ['alarm', 4],
      ['cleared', 12],
    ]);
    assert.deepEqual(turns([101, 80, 101], { ...on, for: 1, clear: 95 }), [
      ['alarm', 0],
      ['cleared', 1],
      ['alarm', 2],
    ]);
  });

  it('are of either end of the band, and of falling values', () => {
    assert.deepEqual(turns([99], { on: 'upper', raise: 100, for: 1 }), [['alarm', 0]]);
    assert.deepEqual(turns([101, 102], { on: 'lower', raise: 100, for: 1 }), [['alarm', 1]]);
    assert.deepEqual(turns([-9.5, -10, -9.5, -11.5], { on: 'value', raise: -10, for: 1 }), [
      ['alarm', 0],
      ['cleared', 3],
    ]);
    assert.deepEqual(turns([6, 4, 5.5, 7], { on: 'value', raise: 5, clear: 6, for: 1 }), [
      ['alarm', 1],
      ['cleared', 3],
    ]);
  });

  it('are of each machine, and of the probability of a label', () => {
    const watch = new Watch(CLASSES, { alarm: { on: 'probability', label: true, raise: 0.5, for: 2 } });
    const told: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      for (const [key, p] of [
        ['p1', 0.6],
        ['p2', 0.4],
      ] as const) {
        const probabilities = { true: p, false: 1 - p };
        const series = { key, time: START + i * MINUTE };
        const { changes } = watch.predicted({ series, prediction: p > 0.5, probabilities });
        told.push(...changes.map((change) => [change.key, change.what, change.value, change.limit]));
        // A row predicted again says nothing of now.
        assert.deepEqual(watch.predicted({ series, prediction: true, probabilities }).changes, []);
      }
    }
    assert.deepEqual(told, [['p1', 'alarm', 0.6, 0.5]]);
  });

  it('say how far ahead they are of, where rows look several steps ahead, also after a restart', () => {
    const alarm = { on: 'value', raise: 100, for: 1 } as const;
    const turn = (watch: Watch, minutes: number, i: number, value: number): unknown[] =>
      watch
        .predicted({
          series: { key: 'p 1', time: START + i * MINUTE, ahead: minutes * MINUTE },
          prediction: quantilesAbout(value),
        })
        .changes.map(({ what, ahead }) => [what, ahead]);
    const one = new Watch(NUMBERS, { alarm });
    assert.deepEqual(turn(one, 10, 0, 101), [['alarm', undefined]]);
    assert.deepEqual(turn(one, 10, 1, 50), [['cleared', undefined]]);
    assert.deepEqual(turn(one, 60, 1, 101), [['alarm', 60 * MINUTE]]);
    assert.deepEqual(turn(one, 10, 2, 101), [['alarm', 10 * MINUTE]]);
    const again = Watch.from(one.toJSON(), { alarm });
    assert.deepEqual(turn(again, 60, 2, 50), [['cleared', 60 * MINUTE]]);
  });

  it('follow the threshold of the model where no number is given, of either class', () => {
    const alarm = { on: 'probability', for: 1 } as const;
    const limits = (
      label: boolean,
      steps: readonly [threshold: number | undefined, p: number][],
      more: object = {},
    ): unknown[] => {
      const watch = new Watch(CLASSES, { alarm: { ...alarm, label, ...more } });
      return steps.flatMap(([at, p], i) => {
        watch.modelChanged({ ...CLASSES, ...(at !== undefined && { threshold: { label: true, at } }) });
        const series = { time: START + i * MINUTE };
        const probabilities = { true: p, false: 1 - p };
        const { changes } = watch.predicted({ series, prediction: true, probabilities });
        return changes.map(({ what, limit }) => [what, Number(limit!.toFixed(3))]);
      });
    };
    assert.deepEqual(
      limits(true, [
        [0.3, 0.29],
        [0.3, 0.31],
        [0.4, 0.26],
        [0.4, 0.25],
        [undefined, 0.49],
        [undefined, 0.5],
      ]),
      [
        ['alarm', 0.3],
        ['cleared', 0.25],
        ['alarm', 0.5],
      ],
    );
    assert.deepEqual(
      limits(false, [
        [0.3, 0.31],
        [0.3, 0.29],
      ]),
      [['alarm', 0.7]],
    );
    // A clear above a threshold that has fallen does not turn the alarm round.
    assert.deepEqual(
      limits(
        true,
        [
          [0.2, 0.1],
          [0.2, 0.25],
          [0.2, 0.15],
        ],
        { clear: 0.4 },
      ),
      [
        ['alarm', 0.2],
        ['cleared', 0.2],
      ],
    );
  });

  it('on a probability are over where its odds have halved, or a tenth below where that is lower', () => {
    const cleared = (raise: number): number => {
      const watch = new Watch(CLASSES, { alarm: { on: 'probability', label: true, raise, for: 1 } });
      const limits = [raise, 0].flatMap((p, i) => {
        const series = { time: START + i * MINUTE };
        const probabilities = { true: p, false: 1 - p };
        return watch.predicted({ series, prediction: true, probabilities }).changes.map(({ limit }) => limit);
      });
      return Number(limits[1]!.toFixed(3));
    };
    assert.deepEqual([0.1, 0.5, 0.8, 0.95, 1].map(cleared), [0.053, 0.333, 0.667, 0.855, 0.9]);
  });

  it('of labels that a threshold answers are promised what it reached', () => {
    const card = {
      ...{ name: 'fault', fitted_train_set_id: 'fit-1', task: 'classification', version: 1 },
      scores: { rows: 10, accuracy: 0.9 },
      threshold: { label: 'yes', at: 0.4 },
    } as unknown as Parameters<typeof watchedModel>[0];
    const curve = {
      positive: 'yes',
      positives: 4,
      negatives: 6,
      at: [0.8, 0.5, 0.3],
      hits: [1, 3, 4],
      false_alarms: [0, 2, 6],
    };
    const reference = {
      ...{ columns: [], rows: [], usual: [], drift: [] },
      curves: { kind: 'classes', by_threshold: curve },
    };
    const promised = (of: object) =>
      watchedModel({ ...card, ...of }, reference as unknown as Parameters<typeof watchedModel>[1]).promised;
    assert.equal(promised({})!.accuracy, 0.7);
    assert.equal(promised({ threshold: undefined })!.accuracy, 0.9);
    assert.equal(watchedModel(card).promised!.accuracy, undefined, 'nobody knows');
  });
});
