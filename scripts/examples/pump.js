/*
 * A simulated centrifugal pump on a variable-speed drive, one step a minute of its own time: hydraulics by the
 * affinity laws, motor and bearing as thermal masses, a bearing that wears faster the hotter it runs.
 * "history" answers with its labelled past, every other message with the next reading.
 */
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
    minute: pump.minute,
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
    hours_since_service: Number(pump.hoursSinceService.toFixed(2)),
    fluid: pump.fluid,
  };
  // A sensor on a long cable drops out now and then: missing values are part of the job.
  if (uniform(pump) < 0.02) {
    reading.vibration_mms = null;
  }
  return { reading, failed };
}

/** Minutes between two rows of the history: neighbours too much alike teach little and make scores look too good. */
const EVERY = 8;

/**
 * The past, with what only the past can know: did it fail within the hour, how hot was it ten minutes later. Three
 * weeks of a machine take a computer a tenth of a second, so other flows get their turn in between.
 */
async function labelledHistory(pump, minutes) {
  const readings = [];
  const failures = [];
  for (let i = 0; i < minutes; i++) {
    if (i % 2000 === 0) {
      await new Promise((next) => setTimeout(next));
    }
    const { reading, failed } = step(pump);
    readings.push(reading);
    if (failed) {
      failures.push(i);
      service(pump);
    }
  }
  const rows = [];
  let next = 0;
  for (let i = 0; i + 10 < minutes; i += EVERY) {
    while (next < failures.length && failures[next] < i) {
      next++;
    }
    const ahead = next < failures.length && failures[next] - i <= 60;
    rows.push({
      ...readings[i],
      failure_ahead: ahead ? 'yes' : 'no',
      bearing_in_10min_c: readings[i + 10].bearing_c,
    });
  }
  return { rows, failures: failures.length };
}

if (msg.topic === 'history') {
  context.set('remembering', true);
  labelledHistory(newPump(7), 32000).then(
    (past) => {
      msg.payload = past.rows;
      node.status({
        fill: 'grey',
        shape: 'dot',
        text: past.rows.length + ' readings, ' + past.failures + ' failures',
      });
      context.set('remembering', false);
      node.send([msg, null]);
    },
    (error) => node.error(error, msg),
  );
  return null;
}

// A reading that comes before anybody has begun to learn would find no model.
if (context.get('remembering')) {
  return null;
}

// The live machine is an old one in a warmer room than the history knew: the drift that every model meets.
function liveMachine() {
  const pump = newPump(2026, { wear: 0.5, hoursSinceService: 5.5, bearing: 68, roomOffset: 1.5 });
  // It has run for a while before anybody looks: its temperatures have settled.
  for (let minute = 0; minute < 45; minute++) {
    step(pump);
  }
  return pump;
}

const pump = context.get('pump') || liveMachine();
const { reading, failed } = step(pump);
if (failed) {
  service(pump);
}
context.set('pump', pump);
msg.topic = 'pump';
msg.failed = failed;
msg.payload = reading;
return [null, msg];
