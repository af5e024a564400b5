// The two predictions of a reading, beside what the bearing shows now.
const reading = msg.payload;
const risk = reading.failure_ahead_probabilities.yes;
const forecast = reading.bearing_in_10min_c;
const colour = risk > 0.5 ? 'red' : risk > 0.2 ? 'yellow' : 'green';
node.status({
  fill: colour,
  shape: msg.failed ? 'ring' : 'dot',
  text: `failure ${Math.round(100 * risk)} % · bearing ${reading.bearing_c} → ${forecast['0.5'].toFixed(1)} °C`,
});
return msg;
