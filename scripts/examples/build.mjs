/* Writes examples/*.json, which the editor offers under Import. `--check` says whether they are as this would write them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';
import { advise } from './advise.mjs';
import { amqp } from './amqp.mjs';
import { batchFile } from './batch-file.mjs';
import { costGuard } from './cost-guard.mjs';
import { energyFromFile } from './energy-from-file.mjs';
import { energy } from './energy.mjs';
import { errorsByCode } from './errors-by-code.mjs';
import { firstSteps } from './first-steps.mjs';
import { fleetHub, fleetMachine } from './fleet.mjs';
import {
  homeAssistant,
  influxdb,
  loraWan,
  mqttDevices,
  opcUaAndModbus,
  pricesAndWeather,
} from './from-source.mjs';
import { hostedService } from './hosted-service.mjs';
import { keepingTrue } from './keeping-true.mjs';
import { limitsCheck } from './limits-check.mjs';
import { liveMachine } from './live-machine.mjs';
import { modelReport } from './model-report.mjs';
import { mqttSensors } from './mqtt-sensors.mjs';
import { postgresql } from './postgresql.mjs';
import { scaleOut } from './scale-out.mjs';
import { catalogueOf, FOLDERS } from './translate.mjs';
import { unusual } from './unusual.mjs';
import { uploadOnce } from './upload-once.mjs';

const examples = {
  'A dryer run cheaper': advise(),
  'Batch scoring of a file': batchFile(),
  'Cost guard': costGuard(),
  'Energy from a CSV file': energyFromFile(),
  'Energy of the next 24 hours': energy(),
  'Handling errors by code': errorsByCode(),
  'From Home Assistant': homeAssistant(),
  'From LoRaWAN': loraWan(),
  'From MQTT devices': mqttDevices(),
  'From OPC UA and Modbus': opcUaAndModbus(),
  'Fleet over MQTT, hub': fleetHub(),
  'Fleet over MQTT, machine': fleetMachine(),
  'Hosted service': hostedService(),
  'InfluxDB in and out': influxdb(),
  'Keeping a model true': keepingTrue(),
  'Limits check': limitsCheck(),
  'First steps': firstSteps(),
  'Live machine': liveMachine(false),
  'Live machine with plots': liveMachine(true),
  'Model report': modelReport(),
  'MQTT sensors': mqttSensors(),
  'Prices and a weather plan': pricesAndWeather(),
  'Nothing lost over AMQP': amqp(),
  'PostgreSQL in and out': postgresql(),
  'Scale out over MQTT': scaleOut(),
  'Upload once': uploadOnce(),
  'What is not usual here': unusual(),
};

let stale = 0;
function write(name, nodes) {
  const file = path.join(root, 'examples', `${name}.json`);
  const text = `${JSON.stringify(nodes, null, 2)}\n`;
  if (!process.argv.includes('--check')) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`examples/${name}.json is stale: run npm run examples`);
    stale += 1;
  }
}

for (const [name, flow] of Object.entries(examples)) {
  write(name, flow);
}
for (const [language, folder] of Object.entries(FOLDERS)) {
  const catalogue = catalogueOf(language);
  const missing = new Set();
  for (const [name, flow] of Object.entries(examples)) {
    const nodes = flow.inLanguage(language, catalogue, (text) => missing.add(text));
    write(path.join(folder, catalogue[name] ?? name), nodes);
  }
  for (const text of missing) {
    console.error(`scripts/examples/locales/${language}.json lacks ${JSON.stringify(text)}`);
  }
  stale += missing.size;
}
process.exitCode = stale ? 1 : 0;
