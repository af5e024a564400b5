if (msg.topic === 'text colour') {
  // A page was opened: the plots are drawn again, legible on its theme.
  context.set('text', msg.payload.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.75)'));
  context.set('drawn', undefined);
  return null;
}
// The newest row of the past comes as a table.
if (Array.isArray(msg.payload)) {
  return null;
}
// Each answer becomes points of its plot. A second here is five minutes of the machine, so half an hour is six of ours.
const row = msg.payload;
const now = msg.at;
let temperature = [];
let risks = [];
let risk = context.get('risk') ?? 0;
if (row.forecast) {
  const later = now + 6 * 1000;
  // The band is drawn as two lines on top of each other, the lower one invisible, the space between filled.
  temperature = [
    { topic: 'band from', payload: row.forecast['0.1'], x: later },
    { topic: '80 % band', payload: row.forecast['0.9'] - row.forecast['0.1'], x: later },
    { topic: 'forecast', payload: row.forecast['0.5'], x: later },
    { topic: 'measured', payload: row.bearing_c, x: now },
  ];
}
if (row.failure_probabilities) {
  risk = 100 * row.failure_probabilities.yes;
  context.set('risk', risk);
  risks = [
    { topic: 'no failure', payload: Number((100 - risk).toFixed(1)), x: now },
    { topic: 'failure', payload: Number(risk.toFixed(1)), x: now },
  ];
}
const drawn = context.get('drawn') || {};
const color = context.get('text');
const words = color && { textStyle: { color } };
const axis = color && { axisLabel: { color }, nameTextStyle: { color } };
const look = { xAxis: { ...axis, axisLabel: { color, alignMaxLabel: 'right' } }, yAxis: { ...axis } };
const line = (name, more) => ({ name, type: 'line', symbol: 'none', ...more });
// Once after each deploy and for each page, how the lines are drawn: the options are those of Apache ECharts.
if (temperature.length > 0 && !drawn.temperature) {
  const hidden = { lineStyle: { opacity: 0 }, stack: 'band' };
  temperature[0].ui_update = {
    chartOptions: {
      ...look,
      legend: { data: ['measured', 'forecast', '80 % band'], ...words },
      series: [
        line('band from', hidden),
        line('80 % band', { ...hidden, areaStyle: { opacity: 0.35 } }),
        line('forecast', { lineStyle: { width: 2, type: 'dashed' } }),
        line('measured', { lineStyle: { width: 2.5 } }),
      ],
    },
  };
}
if (risks.length > 0 && !drawn.risks) {
  risks[0].ui_update = {
    chartOptions: {
      ...look,
      legend: { ...words },
      series: [line('no failure'), line('failure', { areaStyle: { opacity: 0.3 } })],
    },
  };
}
context.set('drawn', {
  temperature: drawn.temperature || temperature.length > 0,
  risks: drawn.risks || risks.length > 0,
});
if (risks.length === 0) {
  return [temperature, null, null];
}
const alarms = context.get('alarms') || [];
const [last] = alarms;
const time = new Date(row.time ?? msg.series.time).toISOString().slice(5, 16).replace('T', ' ');
if (row.failed) {
  alarms.unshift({ time, what: 'Bearing failed, serviced', risk: `${Math.round(risk)} %` });
} else if (risk > 50 && (!last || last.what !== 'Failure ahead within the hour')) {
  alarms.unshift({ time, what: 'Failure ahead within the hour', risk: `${Math.round(risk)} %` });
}
alarms.length = Math.min(alarms.length, 8);
context.set('alarms', alarms);
return [null, risks, { payload: alarms }];
