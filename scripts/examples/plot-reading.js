// One reading becomes points of the plots. A second here is a minute of the machine, so "in ten minutes" is ten seconds on.
const reading = msg.payload;
const forecast = reading.bearing_in_10min_c;
const now = msg.at;
const later = now + 10 * 1000;
const risk = 100 * reading.failure_ahead_probabilities.yes;
const temperature = [
  { topic: 'measured', payload: reading.bearing_c, x: now },
  { topic: 'forecast, 10 %', payload: forecast['0.1'], x: later },
  { topic: 'forecast, median', payload: forecast['0.5'], x: later },
  { topic: 'forecast, 90 %', payload: forecast['0.9'], x: later },
];
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
return [
  temperature,
  [
    { topic: 'no failure', payload: Number((100 - risk).toFixed(1)), x: now },
    { topic: 'failure', payload: Number(risk.toFixed(1)), x: now },
  ],
  { payload: alarms },
];
