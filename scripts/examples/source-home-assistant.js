/*
 * A simulated house. "past" answers as the node "get history" does, with the states of a week; every other message as the
 * node "events: state" does, with one change of a state.
 */
const SENSORS = {
  'sensor.living_room_temperature': '°C',
  'sensor.outdoor_temperature': '°C',
  'sensor.heating_power': 'W',
};
const STEP = 10 * 60_000;

function states(time) {
  const day = (2 * Math.PI * time) / 86_400_000;
  const outdoor = 4 - 6 * Math.cos(day) + 2 * Math.sin(day / 3.7);
  const power = Math.max(0, 3000 - 180 * outdoor + 400 * Math.sin(7 * day));
  return [20 + power / 1500 + outdoor / 12 + 0.3 * Math.sin(11 * day), outdoor, power].map((value) =>
    value.toFixed(1),
  );
}

function stateOf(entity_id, i, time) {
  const last_changed = new Date(time).toISOString();
  const attributes = {
    unit_of_measurement: SENSORS[entity_id],
    friendly_name: entity_id.slice(7).replaceAll('_', ' '),
  };
  return { entity_id, state: states(time)[i], attributes, last_changed, last_updated: last_changed };
}

const entities = Object.keys(SENSORS);
if (msg.topic === 'past') {
  const begin = Date.now() - 7 * 86_400_000;
  const times = Array.from({ length: (7 * 86_400_000) / STEP }, (_, i) => begin + i * STEP);
  return { payload: entities.flatMap((entity, i) => times.map((time) => stateOf(entity, i, time))) };
}
const which = (context.get('which') ?? 0) % entities.length;
context.set('which', which + 1);
const new_state = stateOf(entities[which], which, Date.now());
return {
  topic: new_state.entity_id,
  payload: new_state.state,
  data: { event_type: 'state_changed', entity_id: new_state.entity_id, old_state: null, new_state },
};
