// The last answer to each question, beside what the bearing shows now. The newest row of the past comes as a table.
if (Array.isArray(msg.payload)) {
  return null;
}
const row = msg.payload;
if (row.failure_probabilities) {
  context.set('risk', row.failure_probabilities.yes);
}
if (row.forecast) {
  context.set('forecast', row.forecast['0.5']);
}
const risk = context.get('risk') ?? 0;
const forecast = context.get('forecast');
node.status({
  fill: risk > 0.5 ? 'red' : risk > 0.2 ? 'yellow' : 'green',
  shape: row.failed ? 'ring' : 'dot',
  text: `${Math.round(100 * risk)} % · ${row.bearing_c} → ${forecast?.toFixed(1) ?? '…'} °C`,
});
return msg;
