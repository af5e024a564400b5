if (msg.topic === 'text colour') {
  // A page was opened: the plots are drawn again, legible on its theme.
  context.set('text', msg.payload.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.75)'));
  context.set('drawn', false);
  return null;
}
// One reading becomes points of the plots. A second here is a minute of the machine, so "in ten minutes" is ten seconds on.
const reading = msg.payload;
const forecast = reading.bearing_in_10min_c;
const now = msg.at;
const later = now + 10 * 1000;
const risk = 100 * reading.failure_ahead_probabilities.yes;
// The band is drawn as two lines on top of each other, the lower one invisible, the space between filled.
const temperature = [
  { topic: 'band from', payload: forecast['0.1'], x: later },
  { topic: '80 % band', payload: forecast['0.9'] - forecast['0.1'], x: later },
  { topic: 'forecast', payload: forecast['0.5'], x: later },
  { topic: 'measured', payload: reading.bearing_c, x: now },
];
const risks = [
  { topic: 'no failure', payload: Number((100 - risk).toFixed(1)), x: now },
  { topic: 'failure', payload: Number(risk.toFixed(1)), x: now },
];
if (!context.get('drawn')) {
  // Once after each deploy and for each page, how the lines are drawn: the options are those of Apache ECharts.
  context.set('drawn', true);
  const color = context.get('text');
  const words = color && { textStyle: { color } };
  const axis = color && { axisLabel: { color }, nameTextStyle: { color } };
  const look = { xAxis: { ...axis, axisLabel: { color, alignMaxLabel: 'right' } }, yAxis: { ...axis } };
  const line = (name, more) => ({ name, type: 'line', symbol: 'none', ...more });
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
  risks[0].ui_update = {
    chartOptions: {
      ...look,
      legend: { ...words },
      series: [line('no failure'), line('failure', { areaStyle: { opacity: 0.3 } })],
    },
  };
}
const alarms = context.get('alarms') || [];
const last = alarms[0];
if (msg.failed) {
  alarms.unshift({ minute: reading.minute, what: 'Bearing failed, serviced', risk: `${Math.round(risk)} %` });
} else if (risk > 50 && (!last || last.what !== 'Failure ahead within the hour')) {
  alarms.unshift({
    minute: reading.minute,
    what: 'Failure ahead within the hour',
    risk: `${Math.round(risk)} %`,
  });
}
alarms.length = Math.min(alarms.length, 8);
context.set('alarms', alarms);
return [temperature, risks, { payload: alarms }];
