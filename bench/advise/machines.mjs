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

export const normalDensity = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/*
 * settings, others, and hidden (no column of the table): name → [low, high], [low, high, step], or words. mean: what comes
 * out, by the numbers of `form`, which a fit of the true form would have to find; spread: its standard deviation.
 */
export const machines = {
  dryer: {
    target: 'quality',
    settings: { temperature: [60, 120], fan: [20, 100], minutes: [10, 60] },
    others: { moisture_in: [15, 45], humidity: [20, 80] },
    cost: { temperature: 0.5, fan: 0.2, minutes: 0.4 },
    goal: { goal: 'at least', value: 85 },
    form: [40, 0.4, 1 / 120, 1.3, 1 / 120, 1400, 97, 2.2, 4, 0.012, 95],
    mean: ({ temperature, fan, minutes, moisture_in, humidity }, [a, b, c, d, e, f, g, h, i, j, k]) => {
      const drying = (temperature - a) * (b + fan * c) * minutes * (d - humidity * e);
      const moisture = moisture_in * Math.exp(-drying / f);
      return g - h * Math.max(0, moisture - i) - j * Math.max(0, temperature - k) ** 2;
    },
    spread: () => 2,
  },
  moulder: {
    target: 'warp',
    settings: { pressure: [400, 900], melt_c: [200, 260], hold_s: [2, 14], cool_s: [8, 30] },
    others: { mould_c: [30, 60], regrind: [0, 0.4] },
    cost: { pressure: 0.01, melt_c: 0.15, hold_s: 1, cool_s: 0.8 },
    goal: { goal: 'at most', value: 0.6 },
    form: [0.25, 1.1, 3200, 0.00025, 232, 0.9, 11, 0.6, 1 / 100, 0.5],
    mean: ({ pressure, melt_c, hold_s, cool_s, mould_c, regrind }, [a, b, c, d, e, f, g, h, i, j]) =>
      a +
      b * Math.exp(-(hold_s * pressure) / c) +
      d * (melt_c - e) ** 2 +
      f * Math.exp(-cool_s / g) * (h + mould_c * i) +
      j * regrind,
    spread: ({ regrind }) => 0.06 + 0.08 * regrind,
  },
  press: {
    target: 'strength',
    settings: { force: [50, 150], dwell: [1, 10], resin: ['A', 'B', 'C'] },
    others: { chips_c: [10, 35], density: [600, 750] },
    cost: { force: 0.1, dwell: 2, resin: 6 },
    goal: { goal: 'at least', value: 30 },
    form: [8, 14, 85, 18, 9, 3.5, 2, 4.5, 0.1, 0.03],
    mean: ({ force, dwell, resin, chips_c, density }, [a, b, c, d, e, f, g, h, i, j]) =>
      a +
      b * logistic((force - c) / d) +
      e * (1 - Math.exp(-dwell / f)) +
      { A: 0, B: g, C: h }[resin] +
      i * (chips_c - 20) +
      j * (density - 670),
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
    form: [3.2, 980, 1030, 45, 1.5, 0.8, 35, 25, 0.035, 4],
    mean: ({ peak_c, soak_min, ramp, clay, wet }, [a, b, c, d, e, f, g, h, i, j]) =>
      a -
      (Math.abs(peak_c - (clay === 'red' ? b : c)) / d) ** e * 0.8 +
      f * Math.tanh((soak_min - g) / h) -
      i * Math.max(0, ramp - j) * wet,
    spread: () => 1,
  },
  /* Those that come next were written as ones that nothing was tuned on; since then what is asked for beyond `sure` was. */
  /* More of anything gains less and less. */
  still: {
    target: 'purity',
    settings: { reflux: [1, 6], heat_kw: [20, 80], feed_c: [20, 95] },
    others: { crude: [0.3, 0.7], ambient: [-5, 35] },
    cost: { reflux: 2, heat_kw: 0.25, feed_c: 0.05 },
    goal: { goal: 'at least', value: 92 },
    form: [58, 26, 1.1, 22, 24, 0.06, 0.05, 14],
    mean: ({ reflux, heat_kw, feed_c, crude, ambient }, [a, b, c, d, e, f, g, h]) =>
      a +
      (b * reflux) / (reflux + c) +
      (d * heat_kw) / (heat_kw + e) +
      f * (feed_c - 50) * (1 - crude) +
      g * ambient +
      h * (crude - 0.5),
    spread: () => 1.1,
  },
  /* Speed helps where it is warm and harms where it is cold; water and minutes stand in for each other. */
  mixer: {
    target: 'grit',
    settings: { speed: [100, 500], jacket_c: [15, 75], minutes: [4, 40], water: [0.1, 0.5] },
    others: { batch_kg: [200, 800], grind: [1, 5] },
    cost: { speed: 0.01, jacket_c: 0.08, minutes: 0.3, water: 25 },
    goal: { goal: 'at most', value: 30 },
    form: [48, -0.0016, 42, -1.3, 0.3, 30, 0.012, 2.4],
    mean: ({ speed, jacket_c, minutes, water, batch_kg, grind }, [a, b, c, d, e, f, g, h]) =>
      a +
      b * (speed - 250) * (jacket_c - c) +
      d * minutes * (e + water) -
      f * water +
      g * (batch_kg - 500) +
      h * (grind - 3),
    spread: ({ grind }) => 1.5 + 0.5 * grind,
  },
  /* Classes, and words of unlike worth that change what a degree does. */
  coater: {
    target: 'coat',
    classes: ['firm', 'flakes'],
    settings: { oven_c: [120, 220], belt: [1, 9], primer: ['none', 'K1', 'K2', 'zinc', 'epoxy'] },
    others: { humid: [20, 90], gauge: [0.5, 3] },
    cost: { oven_c: 0.08, belt: 0.9, primer: 4 },
    goal: { goal: 'at least', value: 'firm' },
    form: [0.5, 0.5, 0.8, 1.4, 1.9, 0.022, 0.03, 0.28, 0.012, 0.35],
    mean: ({ oven_c, belt, primer, humid, gauge }, [a, b, c, d, e, f, g, h, i, j]) =>
      a +
      { none: 0, K1: b, K2: c, zinc: d, epoxy: e }[primer] +
      (primer === 'epoxy' ? g : f) * (oven_c - 170) -
      h * (belt - 5) -
      i * (humid - 50) -
      j * (gauge - 1.5),
    spread: () => 1,
  },
  /* Whole passes that each take half of what is left, and a valve that opens at a pressure. */
  sorter: {
    target: 'residue',
    settings: { passes: [1, 7, 1], pressure: [2, 9], belt: [0.5, 3] },
    others: { dirt: [5, 25], wet: [0, 1] },
    cost: { passes: 2, pressure: 0.8, belt: 1.5 },
    goal: { goal: 'at most', value: 4 },
    form: [0.55, 2.2, 1.6, 0.9, 1.5],
    mean: ({ passes, pressure, belt, dirt, wet }, [a, b, c, d, e]) =>
      dirt * a ** passes + b + c * (belt - 1) - d * (pressure >= 4) - e * (pressure >= 7) + 0.6 * wet,
    spread: () => 0.6,
  },
};

/* Machines that nothing was tuned on: written before what is asked for beyond `sure` was chosen, and measured after it. */
export const heldOut = {
  /* Two settings that must fit each other, and a third that helps less the more of it there is. */
  extruder: {
    target: 'waviness',
    settings: { screw: [20, 90], haul: [2, 14], barrel_c: [160, 230], vacuum: [0, 0.9] },
    others: { melt_index: [2, 12], moisture: [0, 0.5], ambient: [12, 34] },
    cost: { screw: 0.12, haul: 0.9, barrel_c: 0.07, vacuum: 8 },
    goal: { goal: 'at most', value: 9 },
    form: [3, 0.55, 6.2, 9, 0.0032, 188, 2.2, 14, 1.9, 0.35, 0.08],
    mean: (
      { screw, haul, barrel_c, vacuum, melt_index, moisture, ambient },
      [a, b, c, d, e, f, g, h, i, j, k],
    ) =>
      a +
      b * Math.sqrt(1 + (screw / c - haul) ** 2 * d) +
      e * (barrel_c - f - g * (7 - melt_index)) ** 2 +
      h * moisture * Math.exp(-i * vacuum) +
      j * Math.abs(melt_index - 6) +
      k * (ambient - 20),
    spread: ({ melt_index }) => 0.7 + 0.06 * melt_index,
  },
  /* A rate that grows with the warmth until the yeast dies of it, times hours. */
  fermenter: {
    target: 'alcohol',
    settings: { warmth: [14, 36], hours: [24, 120], yeast: [0.5, 4], strain: ['ale', 'lager', 'wild'] },
    others: { sugar: [140, 220], ph: [3.4, 4.6] },
    cost: { warmth: 0.4, hours: 0.06, yeast: 1.2, strain: 3 },
    goal: { goal: 'at least', value: 72 },
    form: [0.011, 0.06, 20, 31, 1.7, 1.3, 0.75, 96, 0.11, 1.8],
    mean: ({ warmth, hours, yeast, strain, sugar, ph }, [a, b, c, d, e, f, g, h, i, j]) => {
      const alive = 1 / (1 + Math.exp((warmth - d) / e));
      const rate = a * Math.exp(b * (warmth - c)) * alive * { ale: 1, lager: g, wild: f }[strain];
      return h * (1 - Math.exp(-rate * hours * Math.sqrt(yeast))) - i * (sugar - 180) - j * (ph - 4) ** 2;
    },
    spread: () => 2.6,
  },
  /* Classes: too cold does not bind, too hot burns through, and more so in thin sheet. */
  welder: {
    target: 'seam',
    classes: ['tight', 'leaks'],
    settings: { current: [60, 180], travel: [2, 12], gas: [4, 18] },
    others: { sheet: [0.8, 4], gap: [0, 0.8] },
    cost: { current: 0.06, travel: 0.8, gas: 0.5 },
    goal: { goal: 'at least', value: 'tight' },
    form: [2.6, 9, 5.5, 0.16, 3.2, 5, 1.6],
    mean: ({ current, travel, gas, sheet, gap }, [a, b, c, d, e, f, g]) =>
      a - d * Math.abs(current / Math.sqrt(travel) - b * sheet - c * 4) - e * Math.exp(-gas / f) - g * gap,
    spread: () => 1,
  },
};

/* Machines of other kinds, written after all of the above was measured and before they were: nothing was tuned on them. */
export const fresh = {
  /* More speed helps until the pump draws in vapour; then all of it is lost within a few turns. A valve gains by its root. */
  pump: {
    target: 'flow',
    settings: { speed: [900, 1750], valve: [20, 100], impellers: [1, 3, 1] },
    others: { suction_m: [0.5, 4], water_c: [5, 60], lift_m: [8, 20] },
    cost: { speed: 0.02, valve: 0.12, impellers: 9 },
    goal: { goal: 'at least', value: 150 },
    form: [150, 0.6, 2.6, 70, 1280, 130, 3.2, 7],
    mean: ({ speed, valve, impellers, suction_m, water_c, lift_m }, [a, b, c, d, e, f, g, h]) =>
      a * (speed / 1450) * Math.sqrt(valve / 100) * impellers ** b -
      c * (lift_m - 14) -
      d * logistic((speed - e - f * suction_m + g * (water_c - 20)) / h),
    spread: () => 4,
  },
  /* How much water is right hangs on a word and on the grain; far from it all is equally bad. */
  granulator: {
    target: 'fines',
    settings: {
      water: [8, 30],
      rotor: [150, 450],
      minutes: [2, 15],
      binder: ['none', 'starch', 'HPC', 'PVP'],
    },
    others: { grain: [20, 120], humid: [20, 80] },
    cost: { water: 0.5, rotor: 0.015, minutes: 0.6, binder: 5 },
    goal: { goal: 'at most', value: 15 },
    form: [5, 32, 27, 24, 21, 18, 0.05, 5, 22, 1200, 0.03],
    mean: (
      { water, rotor, minutes, binder, grain, humid },
      [a, b, none, starch, hpc, pvp, c, d, e, f, g],
    ) => {
      const right = { none, starch, HPC: hpc, PVP: pvp }[binder] - c * (grain - 70);
      return (
        a +
        b * (1 - Math.exp(-(((water - right) / d) ** 2))) +
        e * Math.exp((-rotor * minutes) / f) +
        g * (humid - 50)
      );
    },
    spread: ({ grain }) => 1 + 0.01 * grain,
  },
  /* What a thousand bottles cost: only the slowest of three counts, and the wear of all grows by the root of their speeds. */
  line: {
    target: 'cost_per_1000',
    settings: { filler: [120, 320], capper: [120, 320], labeller: [120, 320] },
    others: { litres: [0.33, 1.5], crew: [2, 6, 1], hall_c: [12, 36] },
    cost: { filler: 0.05, capper: 0.03, labeller: 0.02 },
    goal: { goal: 'at most', value: 24 },
    form: [2800, 0.12, 1.06, 0.28, 0.02, 0.7, 2.2, 0.05],
    mean: ({ filler, capper, labeller, litres, crew, hall_c }, [a, b, c, d, e, f, g, h]) => {
      const out = Math.min(filler * (1 - b * litres), c * capper, labeller);
      const jams = e * Math.max(0, filler - capper);
      return (
        a / out + d * Math.sqrt(filler + capper + labeller) + jams + f * crew + g * litres + h * (hall_c - 20)
      );
    },
    spread: () => 0.9,
  },
  /* Classes: minutes and degrees stand in for each other, until the glue burns; pressure gains by its root. */
  bonder: {
    target: 'joint',
    classes: ['holds', 'peels'],
    settings: { cure_c: [80, 160], minutes: [5, 60], bar: [1, 8], primer: ['none', 'silane', 'plasma'] },
    others: { gap_um: [20, 200], humid: [20, 80] },
    cost: { cure_c: 0.06, minutes: 0.12, bar: 0.7, primer: 3 },
    goal: { goal: 'at least', value: 'holds' },
    form: [-0.6, 1.6, 0.045, 0.55, 0.9, 0.008, 0.01, 0.07, 0.55],
    mean: ({ cure_c, minutes, bar, primer, gap_um, humid }, [a, b, c, d, e, f, g, h, i]) =>
      a +
      b * Math.tanh(Math.log(minutes / 20) + c * (cure_c - 120)) +
      { none: 0, silane: d, plasma: e }[primer] +
      i * Math.sqrt(bar) -
      f * (gap_um - 60) -
      g * (humid - 50) -
      h * Math.max(0, cure_c - 138),
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

/** All values of words and of a number with steps. */
const valuesOf = (range, [low, high, step] = range) =>
  typeof low !== 'number'
    ? range
    : step && Array.from({ length: Math.round((high - low) / step) + 1 }, (_, at) => low + at * step);

function valueIn(range, random) {
  const values = valuesOf(range);
  return values === undefined
    ? Number((range[0] + random() * (range[1] - range[0])).toPrecision(5))
    : values[Math.floor(random() * values.length)];
}

/** What comes out of a row on average: the machine as it is, or as it was fitted. */
export const meanOf = ({ mean, form }, row, fitted = form) => mean(row, fitted);

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
  const value = meanOf(machine, row) + machine.spread(row) * normal(random);
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
  const mean = meanOf(machine, row);
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
  const axis = (name, from, to, count) => {
    const range = machine.settings[name];
    const inside = (value) => value >= range[0] && value <= range[1];
    return (
      valuesOf(range) ?? [
        row[name],
        ...Array.from({ length: count }, (_, i) => from + (i / (count - 1)) * (to - from)).filter(inside),
      ]
    );
  };
  look(names.map((name) => axis(name, ...machine.settings[name].slice(0, 2), places)));
  for (
    let width = 1 / (places - 1), round = 0;
    round < 6 && best.setting !== undefined;
    round++, width /= 2.5
  ) {
    const { setting } = best;
    look(
      names.map((name) => {
        const [low, high] = machine.settings[name];
        const away = width * (high - low);
        return axis(name, setting[name] - away, setting[name] + away, 7);
      }),
    );
  }
  return best;
}
