// One statement writes all rows: they travel as one JSON parameter.
const rows = msg.payload.map((row) => ({
  id: row.id,
  late: row.late,
  probability: row.late_probabilities[row.late],
}));
return { ...msg, params: [JSON.stringify(rows), msg.model_name] };
