/*
 * Machines whose truth is known: what comes out for any setting, and how it scatters. Their past has settings that were
 * chosen without regard to anything else, so nothing is confounded; but for one, where a hidden cause moves them too.
 */
import { seededRandom } from '../../dist/src/util/random.js';

const logistic = (x) => 1 / (1 + Math.exp(-x));

/** The standard normal distribution: below x lies this part of it (W. J. Cody's error function is not needed here: Abramowitz and Stegun 7.1.26). */
export function normalBelow(x) {
  const t = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const tail =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) *
    Math.exp(-(x * x) / 2);
  return x >= 0 ? 1 - tail / 2 : tail / 2;
}

export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/* settings, others, and hidden (no column of the table): name → [low, high], or words. mean: what comes out; spread: its standard deviation. */
export const machines = {
  dryer: {
    target: 'quality',
    settings: { temperature: [60, 120], fan: [20, 100], minutes: [10, 60] },
    others: { moisture_in: [15, 45], humidity: [20, 80] },
    cost: { temperature: 0.5, fan: 0.2, minutes: 0.4 },
    goal: { goal: 'at least', value: 85 },
    mean: ({ temperature, fan, minutes, moisture_in, humidity }) => {
      const drying = (temperature - 40) * (0.4 + fan / 120) * minutes * (1.3 - humidity / 120);
      const moisture = moisture_in * Math.exp(-drying / 1400);
      return 97 - 2.2 * Math.max(0, moisture - 4) - 0.012 * Math.max(0, temperature - 95) ** 2;
    },
    spread: () => 2,
  },
  moulder: {
    target: 'warp',
    settings: { pressure: [400, 900], melt_c: [200, 260], hold_s: [2, 14], cool_s: [8, 30] },
    others: { mould_c: [30, 60], regrind: [0, 0.4] },
    cost: { pressure: 0.01, melt_c: 0.15, hold_s: 1, cool_s: 0.8 },
    goal: { goal: 'at most', value: 0.6 },
    mean: ({ pressure, melt_c, hold_s, cool_s, mould_c, regrind }) =>
      0.25 +
      1.1 * Math.exp(-(hold_s * pressure) / 3200) +
      0.00025 * (melt_c - 232) ** 2 +
      0.9 * Math.exp(-cool_s / 11) * (0.6 + mould_c / 100) +
      0.5 * regrind,
    spread: ({ regrind }) => 0.06 + 0.08 * regrind,
  },
  press: {
    target: 'strength',
    settings: { force: [50, 150], dwell: [1, 10], resin: ['A', 'B', 'C'] },
    others: { chips_c: [10, 35], density: [600, 750] },
    cost: { force: 0.1, dwell: 2, resin: 6 },
    goal: { goal: 'at least', value: 30 },
    mean: ({ force, dwell, resin, chips_c, density }) =>
      8 +
      14 * logistic((force - 85) / 18) +
      9 * (1 - Math.exp(-dwell / 3.5)) +
      { A: 0, B: 2, C: 4.5 }[resin] +
      0.1 * (chips_c - 20) +
      0.03 * (density - 670),
    spread: ({ density }) => 1.2 + 0.004 * (density - 600),
  },
  /* The same as a question of classes: good or scrap. */
  kiln: {
    target: 'outcome',
    classes: ['good', 'scrap'],
    settings: { peak_c: [900, 1100], soak_min: [10, 90], ramp: [2, 12] },
    others: { clay: ['red', 'white'], wet: [2, 10] },
    cost: { peak_c: 0.05, soak_min: 0.2, ramp: 1.5 },
    goal: { goal: 'at least', value: 'good' },
    /* The probability of good is that the standard normal is below this. */
    mean: ({ peak_c, soak_min, ramp, clay, wet }) =>
      3.2 -
      (Math.abs(peak_c - (clay === 'red' ? 980 : 1030)) / 45) ** 1.5 * 0.8 +
      0.8 * Math.tanh((soak_min - 35) / 25) -
      0.035 * Math.max(0, ramp - 4) * wet,
    spread: () => 1,
  },
};

/* The operators run it slowly where the material is hard. No column says how hard it is, but the load of the motor rises with it. */
export const confounded = {
  mill: {
    target: 'fineness',
    settings: { speed: [20, 80], pressure: [1, 6] },
    others: { feed: [5, 15] },
    hidden: { hardness: [0, 1] },
    cost: { speed: 0.1, pressure: 3 },
    goal: { goal: 'at least', value: 70 },
    /* As it was: what is found beside the settings. */
    asItWas: (row, random) => ({
      ...row,
      speed: Number(Math.min(80, Math.max(20, 78 - 52 * row.hardness + 6 * normal(random))).toPrecision(5)),
      motor_load: Number((40 + 30 * row.hardness + 6 * normal(random)).toPrecision(5)),
    }),
    mean: ({ speed, pressure, feed, hardness }) =>
      62 + 5 * pressure + 0.02 * speed - 0.4 * feed - 22 * hardness,
    spread: () => 2,
  },
};

const columnsOf = ({ settings, others, hidden = {} }) => ({ ...settings, ...others, ...hidden });

const valueIn = (range, random) =>
  typeof range[0] === 'number'
    ? Number((range[0] + random() * (range[1] - range[0])).toPrecision(5))
    : range[Math.floor(random() * range.length)];

/** A row of settings and all else, without what comes out. */
export function anyRow(machine, random) {
  const row = Object.fromEntries(
    Object.entries(columnsOf(machine)).map(([name, range]) => [name, valueIn(range, random)]),
  );
  return machine.asItWas?.(row, random) ?? row;
}

/** What the table has of a row. */
export function seen({ hidden = {} }, row) {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !Object.hasOwn(hidden, name)));
}

function outcome(machine, row, random) {
  const value = machine.mean(row) + machine.spread(row) * normal(random);
  return machine.classes === undefined ? Number(value.toPrecision(5)) : machine.classes[value > 0 ? 0 : 1];
}

/** The past of a machine, with what came out. */
export function historyOf(machine, rows, seed) {
  const random = seededRandom(seed);
  return Array.from({ length: rows }, () => {
    const row = anyRow(machine, random);
    return { ...seen(machine, row), [machine.target]: outcome(machine, row, random) };
  });
}

/** The probability that the goal holds, in truth. */
export function truthOf(machine, row) {
  const { goal, value } = machine.goal;
  const mean = machine.mean(row);
  const spread = machine.spread(row);
  const above =
    machine.classes === undefined ? normalBelow((mean - value) / spread) : normalBelow(mean / spread);
  return goal === 'at least' ? above : 1 - above;
}

export function costOf({ cost, settings }, row, setting) {
  return Object.keys(settings).reduce((sum, name) => {
    const [from, to] = [row[name], setting[name]];
    return sum + (typeof from === 'number' ? Math.abs(to - from) * cost[name] : from === to ? 0 : cost[name]);
  }, 0);
}

/** The cheapest setting that holds the goal in truth: a grid, then ever finer ones around the best. */
export function trueBest(machine, row, sure) {
  const names = Object.keys(machine.settings);
  let best = { cost: Infinity };
  const look = (axes) => {
    const walk = (at, setting) => {
      if (at < names.length) {
        for (const value of axes[at]) {
          walk(at + 1, { ...setting, [names[at]]: value });
        }
        return;
      }
      const whole = { ...row, ...setting };
      const cost = costOf(machine, row, whole);
      if (cost < best.cost && truthOf(machine, whole) >= sure) {
        best = { cost, setting: whole };
      }
    };
    walk(0, {});
  };
  const places = names.length > 3 ? 11 : 21;
  look(
    names.map((name) => {
      const range = machine.settings[name];
      return typeof range[0] === 'number'
        ? [
            row[name],
            ...Array.from(
              { length: places },
              (_, i) => range[0] + (i / (places - 1)) * (range[1] - range[0]),
            ),
          ]
        : range;
    }),
  );
  for (
    let width = 1 / (places - 1), round = 0;
    round < 6 && best.setting !== undefined;
    round++, width /= 2.5
  ) {
    const { setting } = best;
    look(
      names.map((name) => {
        const range = machine.settings[name];
        return typeof range[0] === 'number'
          ? [
              row[name],
              ...Array.from(
                { length: 7 },
                (_, i) => setting[name] + ((i - 3) / 3) * width * (range[1] - range[0]),
              ).filter((value) => value >= range[0] && value <= range[1]),
            ]
          : range;
      }),
    );
  }
  return best;
}
