/*
 * A simulated centrifugal pump on a variable-speed drive, one step a minute of its own time: hydraulics by the
 * affinity laws, motor and bearing as thermal masses, a bearing that wears faster the hotter it runs. It knows what its
 * sensors show now, and tells that its bearing failed when it does; of what will be it knows nothing.
 * "history" answers with its readings of the last days as one table, every other message with the next reading.
 */
/** Minutes between two readings. */
const EVERY = 5;
/** When its clock begins: a second of ours is five minutes of it, and its readings may not be from the future. */
const BEGIN = Date.UTC(2020, 0, 1);
const STEP_S = 60;
const NOMINAL_RPM = 2900;

function uniform(pump) {
  // mulberry32: the same seed gives the same machine on every computer
  pump.seed = (pump.seed + 0x6d2b79f5) | 0;
  let t = Math.imul(pump.seed ^ (pump.seed >>> 15), 1 | pump.seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function gauss(pump) {
  return Math.sqrt(-2 * Math.log(1 - uniform(pump))) * Math.cos(2 * Math.PI * uniform(pump));
}

function newPump(seed, { wear = 0.05, hoursSinceService = 0, bearing = 40, roomOffset = 0 } = {}) {
  return {
    seed,
    roomOffset,
    wear,
    fouling: 0,
    minute: 0,
    hoursSinceService,
    rpm: 2400,
    setpoint: 2400,
    valve: 0.8,
    fluid: 'water',
    winding: 45,
    bearing,
  };
}

function service(pump) {
  pump.wear = 0.02 + 0.1 * uniform(pump);
  pump.fouling = 0;
  pump.hoursSinceService = 0;
}

/** Where the pump's curve H = h0 n² - k Q² meets the pipe's curve H = hs + r Q² (heads in m, flow in m³/h). */
function operatingPoint(n, valve, fouling) {
  const staticHead = 6;
  const curve = 0.0042 * (1 + fouling);
  const pipe = 0.002 / (valve * valve);
  const flow = Math.sqrt(Math.max(0, (38 * n * n - staticHead) / (curve + pipe)));
  return { flow, head: staticHead + pipe * flow * flow };
}

/** One minute of the machine; answers what its sensors show, and whether the bearing failed in it. */
function step(pump) {
  pump.minute += 1;
  pump.hoursSinceService += STEP_S / 3600;
  if (uniform(pump) < 0.03) {
    pump.setpoint = 1800 + 1200 * uniform(pump);
  }
  if (uniform(pump) < 0.02) {
    pump.valve = 0.45 + 0.55 * uniform(pump);
  }
  if (uniform(pump) < 0.004) {
    pump.fluid = ['water', 'brine', 'glycol'][Math.floor(3 * uniform(pump))];
  }
  pump.rpm += 0.35 * (pump.setpoint - pump.rpm) + 4 * gauss(pump);

  const n = pump.rpm / NOMINAL_RPM;
  const density = { water: 998, brine: 1150, glycol: 1060 }[pump.fluid];
  const { flow, head } = operatingPoint(n, pump.valve, pump.fouling);
  const best = 72 * n;
  const efficiency = Math.max(0.15, 0.76 * (1 - Math.pow((flow - best) / best, 2)) - 0.2 * pump.fouling);
  const shaft = (density * 9.81 * (flow / 3600) * head) / efficiency / 1000;
  const ambient = 21 + pump.roomOffset + 5 * Math.sin((2 * Math.PI * pump.minute) / 1440) + 0.1 * gauss(pump);

  // Thermal masses: C dT/dt = losses - (T - ambient) / R
  pump.winding += (STEP_S / 900) * (ambient + 26 * (shaft / 7) - pump.winding + 18);
  const friction = (10 + 24 * n * n) * (1 + 2.2 * pump.wear * pump.wear);
  pump.bearing += (STEP_S / 1200) * (ambient + friction + 0.12 * (pump.winding - ambient) - pump.bearing);
  pump.fouling = Math.min(0.8, pump.fouling + 0.0004 * uniform(pump));
  // Arrhenius-like: every 12 degrees above 60 double the rate of wear
  pump.wear += 0.0013 * n * Math.pow(2, (pump.bearing - 60) / 12) * (0.6 + 0.8 * uniform(pump));

  const failed = pump.wear >= 1;
  const reading = {
    time: BEGIN + 60000 * pump.minute,
    speed_rpm: Math.round(pump.rpm),
    flow_m3h: Number((flow * (1 + 0.01 * gauss(pump))).toFixed(2)),
    head_m: Number((head * (1 + 0.01 * gauss(pump))).toFixed(2)),
    power_kw: Number((shaft * (1 + 0.01 * gauss(pump))).toFixed(2)),
    ambient_c: Number(ambient.toFixed(1)),
    winding_c: Number((pump.winding + 0.3 * gauss(pump)).toFixed(1)),
    bearing_c: Number((pump.bearing + 0.3 * gauss(pump)).toFixed(1)),
    vibration_mms: Number(
      (0.8 + 0.9 * n + 5.5 * Math.pow(pump.wear, 3) + 0.15 * Math.abs(gauss(pump))).toFixed(2),
    ),
    fluid: pump.fluid,
    failed,
  };
  // A sensor on a long cable drops out now and then: missing values are part of the job.
  if (uniform(pump) < 0.02) {
    reading.vibration_mms = null;
  }
  return { reading, failed };
}

/** What the pump sends after some minutes: the last of its readings, and whether it failed since the one before. */
function next(pump) {
  let last;
  let failed = false;
  for (let i = 0; i < EVERY; i++) {
    const now = step(pump);
    last = now.reading;
    if (now.failed) {
      failed = true;
      service(pump);
    }
  }
  return { ...last, failed };
}

if (msg.topic === 'history') {
  // What was kept of another run is of another pump.
  node.send({ reset: true });
  const pump = newPump(7);
  const payload = Array.from({ length: 700 }, () => next(pump));
  const failures = payload.filter(({ failed }) => failed).length;
  node.status({ fill: 'grey', shape: 'dot', text: `${payload.length} readings, ${failures} failures` });
  context.set('pump', pump);
  return { payload, topic: 'history' };
}

const pump = context.get('pump');
if (!pump) {
  return null;
}
return { ...msg, topic: 'pump', payload: next(pump) };
