if (msg.topic === 'text colour') {
  // A page was opened: the plot is drawn again, legible on its theme.
  context.set('text', msg.payload.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.75)'));
  context.set('drawn', false);
  return null;
}
if (msg.topic === 'past') {
  // Until the model is there, the plot says what it waits for.
  const text = 'Waiting for the model: it is being fitted, which takes a minute or so …';
  const title = { text, left: 'center', top: 'middle', textStyle: { color: '#888', fontSize: 15 } };
  return { payload: [], ui_update: { chartOptions: { title } } };
}
const rows = msg.payload;
const at = (i) => msg.series[i].time + msg.series[i].ahead;
const { time } = msg.series[0];
const points = [{ topic: 'measured', payload: rows[0].energy_kwh, x: time }];
// A day is forecast at its first hour that was metered, and stays as it was told.
const day = new Date(time).toDateString();
if (context.get('day') !== day) {
  context.set('day', day);
  rows.forEach(({ forecast }, i) => {
    points.push(
      { topic: 'band from', payload: Math.max(0, forecast['0.1']), x: at(i) },
      { topic: '80 % band', payload: forecast['0.9'] - Math.max(0, forecast['0.1']), x: at(i) },
      { topic: 'forecast', payload: forecast['0.5'], x: at(i) },
    );
  });
}
if (!context.get('drawn')) {
  // Once after each deploy and for each page, how the lines are drawn: the options are those of Apache ECharts.
  context.set('drawn', true);
  const color = context.get('text');
  const axis = color && { axisLabel: { color }, nameTextStyle: { color } };
  const line = (name, more) => ({ name, type: 'line', symbol: 'none', ...more });
  const hidden = { lineStyle: { opacity: 0 }, stack: 'band' };
  points[0].ui_update = {
    chartOptions: {
      title: { text: '' },
      xAxis: { ...axis },
      yAxis: { ...axis },
      legend: {
        data: ['measured', 'forecast', '80 % band'],
        ...(color && { textStyle: { color } }),
      },
      series: [
        line('measured', { lineStyle: { width: 2.5 } }),
        line('band from', hidden),
        line('80 % band', { ...hidden, areaStyle: { opacity: 0.35 } }),
        line('forecast', { lineStyle: { width: 2, type: 'dashed' } }),
      ],
    },
  };
}
return [points];
