/*
 * A simulated house that heats by a heat pump: its energy in kWh for each hour depends on the weather, on who is at home
 * (weekdays, weekends, holidays) and on what they do. Its meter loses an hour now and then, and once in a while most
 * of a day. "past" answers with the hours of the last ten weeks as one table, every other message with the next hour, and
 * before it with what is known of the day ahead: its holidays, and a forecast of the weather.
 */
const HOUR = 3600 * 1000;
/** When its clock begins: an hour takes it two seconds of ours, and its readings may not be from the future. */
const BEGIN = Date.UTC(2021, 9, 1);
const PAST_HOURS = 70 * 24;
const HOLIDAYS = ['10-03', '11-01', '12-24', '12-25', '12-26', '12-31', '01-01', '01-06', '05-01'];

function random(house) {
  // mulberry32: the same seed gives the same house on every computer
  house.seed = (house.seed + 0x6d2b79f5) | 0;
  let t = Math.imul(house.seed ^ (house.seed >>> 15), 1 | house.seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function gauss(house) {
  return Math.sqrt(-2 * Math.log(1 - random(house))) * Math.cos(2 * Math.PI * random(house));
}

/** The hour that has passed; `energy_kwh` is missing where the meter lost it. */
function next(house) {
  const time = BEGIN + HOUR * house.hour++;
  const date = new Date(time);
  const [hour, day] = [date.getHours(), date.getDay()];
  const key = `${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
  const holiday = HOLIDAYS.includes(key);
  const free = holiday || day === 0 || day === 6;
  const season = Math.cos((2 * Math.PI * (date.getMonth() - 0.5 + date.getDate() / 30)) / 12);
  house.front = 0.985 * house.front + 0.6 * gauss(house);
  house.doubt = gauss(house);
  house.cloud = Math.min(1, Math.max(0, 0.95 * house.cloud + 0.025 + 0.12 * gauss(house)));
  const height = Math.max(0, Math.sin((Math.PI * (hour - 6.5 - 1.5 * season)) / (11 - 3 * season)));
  const sun = Math.round((650 - 400 * season) * height * (1 - 0.75 * house.cloud));
  const outside = 10 - 10 * season + house.front + 3 * Math.sin((Math.PI * (hour - 9)) / 12) + sun / 250;
  const awake = hour >= 6 && hour < 23;
  const home = awake && (free || hour < 8 || hour >= 16);
  house.inside += 0.25 * (((awake ? 21 : 18.5) - house.inside) * 0.8);
  const heating = Math.max(0, (house.inside - outside) * 0.085 - sun / 900);
  const cooking = (home && (hour === 18 || (free && hour === 12)) ? 1.1 : 0) * (0.6 + 0.8 * random(house));
  const washing = home && random(house) < (free ? 0.12 : 0.05) ? 0.9 : 0;
  const energy = 0.18 + heating + (home ? 0.35 : 0) + cooking + washing + 0.05 * Math.abs(gauss(house));
  const ahead = { time, outside_c: Number(outside.toFixed(1)), holiday };
  if (house.silent > 0 || random(house) < 0.004) {
    house.silent = house.silent > 0 ? house.silent - 1 : random(house) < 0.2 ? 16 : 0;
    return ahead;
  }
  return {
    ...ahead,
    energy_kwh: Number(energy.toFixed(2)),
    sun_wm2: sun,
    inside_c: Number((house.inside + 0.1 * gauss(house)).toFixed(1)),
  };
}

/** What is known of the next 24 hours: a forecast of the weather is off by a degree or so at the end of them. */
function plan(house) {
  const likely = { ...house };
  const off = house.doubt / 24;
  return Array.from({ length: 24 }, (_, hours) => {
    const { time, outside_c, holiday } = next(likely);
    return { time, outside_c: Number((outside_c + off * hours).toFixed(1)), holiday };
  });
}

if (msg.topic === 'past') {
  // What was kept of another run is of another house.
  node.send({ reset: true });
  const house = { seed: 3, hour: 0, front: 0, cloud: 0.5, inside: 20, silent: 0 };
  const hours = Array.from({ length: PAST_HOURS }, () => next(house));
  const payload = hours.filter((hour) => hour.energy_kwh !== undefined);
  context.set('house', house);
  node.status({ fill: 'grey', shape: 'dot', text: `${payload.length} hours` });
  return { payload, topic: 'past' };
}
const house = context.get('house');
if (house === undefined) {
  return null;
}
const payload = next(house);
node.send({ topic: 'house', payload: plan(house) });
return payload.energy_kwh === undefined ? null : { ...msg, topic: 'house', payload };
