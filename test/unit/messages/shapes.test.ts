import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import {
  type MessageNote,
  MessageReader,
  type MessageReading,
  type MessageSettings,
  SHAPES,
  type SourceMessage,
  TopicPattern,
} from '../../doors/messages';
import { REAL_MESSAGES } from './real-messages';

const T = Date.UTC(2026, 10, 25, 10);
const ISO = new Date(T).toISOString();

/** A message of a source, and the readings that it has. */
interface Example {
  message: SourceMessage;
  readings: Partial<MessageReading>[];
}

const EXAMPLES: Record<string, Example[]> = {
  OpenTelemetry: [
    {
      message: {
        payload: {
          resourceMetrics: [
            {
              resource: { attributes: [{ key: 'service.name', value: { stringValue: 'pump' } }] },
              scopeMetrics: [
                {
                  scope: { name: 'my.library', version: '1.0.0' },
                  metrics: [
                    {
                      name: 'my.counter',
                      unit: '1',
                      sum: {
                        aggregationTemporality: 1,
                        isMonotonic: true,
                        dataPoints: [
                          {
                            asDouble: 5,
                            startTimeUnixNano: `${T - 60_000}000000`,
                            timeUnixNano: `${T}000000`,
                            attributes: [{ key: 'room', value: { stringValue: 'a' } }],
                          },
                        ],
                      },
                    },
                    {
                      name: 'my.gauge',
                      gauge: { dataPoints: [{ asInt: '10', timeUnixNano: `${T}000000` }] },
                    },
                    {
                      name: 'my.histogram',
                      histogram: { dataPoints: [{ count: 3, sum: 3, timeUnixNano: `${T}000000` }] },
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
      readings: [
        { key: 'pump/a', time: T, values: { 'my.counter': 5 } },
        { key: 'pump', time: T, values: { 'my.gauge': '10' } },
      ],
    },
  ],
  openHAB: [
    {
      message: {
        topic: 'openhab/items/LivingTemp/statechanged',
        payload: { type: 'Decimal', value: '21.5', oldType: 'Decimal', oldValue: '21.4' },
      },
      readings: [{ values: { LivingTemp: '21.5' } }],
    },
    {
      message: {
        payload: {
          topic: 'openhab/items/LivingTemp/state',
          payload: '{"type":"Decimal","value":"21.5"}',
          type: 'ItemStateEvent',
        },
      },
      readings: [{ values: { LivingTemp: '21.5' } }],
    },
  ],
  Graphite: [
    {
      message: {
        payload: [
          {
            target: 'pump.power',
            datapoints: [
              [21.5, T / 1000],
              [null, T / 1000 + 60],
            ],
          },
        ],
      },
      readings: [
        { time: T, values: { 'pump.power': 21.5 } },
        { time: T + 60_000, values: { 'pump.power': null } },
      ],
    },
  ],
  'Industrial Edge': [
    {
      message: {
        topic: 'ie/d/j/simatic/v1/s7c1/dp/r/PLC/default',
        payload: { seq: 1, vals: [{ id: '101', qc: 3, ts: ISO, val: 21.5 }] },
      },
      readings: [{ time: ISO, values: { '101': 21.5 } }],
    },
  ],
  Beckhoff: [
    {
      message: {
        payload: {
          Timestamp: ISO,
          GroupName: 'press',
          Values: { fTemp: 21.5, bOn: true },
          MetaData: { fTemp: { Unit: 'C' } },
        },
      },
      readings: [{ key: 'press', time: ISO, values: { fTemp: 21.5, bOn: true } }],
    },
  ],
  Fronius: [
    {
      message: {
        payload: {
          Body: {
            Data: {
              Inverters: { '1': { DT: 123, P: 500 } },
              Site: { P_Akku: null, P_Grid: -200 },
            },
          },
          Head: { Status: { Code: 0, Reason: '', UserMessage: '' }, Timestamp: ISO },
        },
      },
      readings: [{ time: ISO, values: { 'Inverters.1.P': 500, 'Site.P_Akku': null, 'Site.P_Grid': -200 } }],
    },
  ],
  Enphase: [
    {
      message: {
        payload: {
          production: [
            { type: 'inverters', activeCount: 10, readingTime: T / 1000, wNow: 500 },
            { type: 'eim', measurementType: 'production', readingTime: T / 1000, wNow: 501 },
          ],
          consumption: [{ type: 'eim', measurementType: 'net-consumption', readingTime: T / 1000, wNow: -2 }],
        },
      },
      readings: [
        {
          time: T,
          values: { 'production.0.wNow': 500, 'production.1.wNow': 501, 'consumption.0.wNow': -2 },
        },
      ],
    },
  ],
  Grott: [
    {
      message: {
        topic: 'energy/growatt',
        payload: { device: 'NXY', time: ISO, buffered: 'no', values: { pvpowerin: 5000 } },
      },
      readings: [{ key: 'NXY', time: ISO, values: { pvpowerin: 5000 } }],
    },
  ],
  Volkszähler: [
    {
      message: {
        payload: {
          version: '0.3',
          data: {
            ...{ uuid: 'a', from: T, to: T + 1000 },
            tuples: [
              [T, 500, 1],
              [T + 1000, 510, 1],
            ],
          },
        },
      },
      readings: [
        { key: 'a', time: T, values: { value: 500 } },
        { key: 'a', time: T + 1000, values: { value: 510 } },
      ],
    },
  ],
  Elasticsearch: [
    {
      message: {
        payload: {
          hits: {
            total: { value: 1 },
            hits: [{ _index: 'i', _id: '1', _source: { '@timestamp': ISO, temp: 21.5 } }],
          },
        },
      },
      readings: [{ time: ISO, values: { temp: 21.5 } }],
    },
  ],
  Netatmo: [
    {
      message: {
        payload: {
          body: {
            devices: [
              {
                _id: '70:ee',
                station_name: 'house',
                dashboard_data: { time_utc: T / 1000, Temperature: 21.5, date_max_temp: T / 1000 },
                modules: [
                  {
                    _id: '02:00',
                    module_name: 'garden',
                    dashboard_data: { time_utc: T / 1000, Temperature: 5 },
                  },
                ],
              },
            ],
          },
          status: 'ok',
        },
      },
      readings: [
        { key: 'house', time: T, values: { Temperature: 21.5 } },
        { key: 'garden', time: T, values: { Temperature: 5 } },
      ],
    },
  ],
  Tuya: [
    {
      message: { payload: { data: { devId: 'x', dps: { '1': true, '19': 500 }, t: T / 1000 } } },
      readings: [{ key: 'x', time: T, values: { '1': true, '19': 500 } }],
    },
  ],
  'Z-Wave JS': [
    {
      message: {
        topic: 'zwave/kitchen/sensor_multilevel/endpoint_0/Air_temperature',
        payload: {
          ...{ id: '9-49-0-Air temperature', nodeId: 9, commandClass: 49, endpoint: 0 },
          ...{ property: 'Air temperature', propertyName: 'Air temperature', type: 'number' },
          ...{ label: 'Air temperature', value: 21.5, unit: '°C', lastUpdate: T },
        },
      },
      readings: [{ key: '9', time: T, values: { '49.0.Air temperature': 21.5 } }],
    },
  ],
  ESPHome: [
    {
      message: { topic: 'attic/sensor/temperature/state', payload: '21.5' },
      readings: [{ key: 'attic', values: { temperature: '21.5' } }],
    },
  ],
  'Home Assistant': [
    {
      message: { topic: 'homeassistant/sensor/outdoor_temperature/state', payload: '12.3' },
      readings: [{ values: { 'sensor/outdoor_temperature': '12.3' } }],
    },
    {
      message: {
        payload: {
          event_type: 'state_changed',
          data: {
            entity_id: 'sensor.t',
            new_state: { entity_id: 'sensor.t', state: '61.5', attributes: {}, last_changed: ISO },
          },
        },
      },
      readings: [{ time: ISO, values: { 'sensor.t': '61.5' } }],
    },
  ],
  'Home Assistant history': [
    {
      message: {
        payload: [
          [
            { entity_id: 'sensor.t', state: '61', last_changed: ISO },
            { state: '62', last_changed: '2026-11-25T10:01:00Z' },
          ],
          [{ entity_id: 'sensor.h', state: '40', last_changed: ISO }],
        ],
      },
      readings: [
        { time: ISO, values: { 'sensor.t': '61', 'sensor.h': '40' } },
        { time: '2026-11-25T10:01:00Z', values: { 'sensor.t': '62' } },
      ],
    },
  ],
  Tasmota: [
    {
      message: {
        topic: 'stat/plug/STATUS8',
        payload: { StatusSNS: { Time: '2026-11-25T10:00:00', AM2301: { Temperature: 21 }, TempUnit: 'C' } },
      },
      readings: [{ key: 'plug', time: '2026-11-25T10:00:00', values: { 'AM2301.Temperature': 21 } }],
    },
  ],
  Shelly: [
    {
      message: {
        payload: {
          ...{ ble: {}, cloud: { connected: true }, mqtt: { connected: false }, ws: { connected: false } },
          sys: { mac: 'A8032ABE54DC', unixtime: T / 1000, uptime: 36292, ram_free: 120932 },
          'switch:0': {
            ...{ id: 0, source: 'init', output: false, apower: 10.5, temperature: { tC: 52.9, tF: 127.3 } },
            aenergy: { total: 11.679, by_minute: [0, 0, 0], minute_ts: T / 1000 },
          },
          wifi: { sta_ip: '192.168.1.2', status: 'got ip', rssi: -62 },
        },
      },
      readings: [
        {
          key: 'A8032ABE54DC',
          time: T,
          values: {
            ...{ 'switch:0.output': false, 'switch:0.apower': 10.5, 'switch:0.aenergy.total': 11.679 },
            ...{ 'switch:0.temperature.tC': 52.9, 'switch:0.temperature.tF': 127.3 },
          },
        },
      ],
    },
    {
      message: {
        topic: 'shellyplus1pm/rpc',
        payload: {
          id: 1,
          src: 'shellyplus1pm-a8',
          dst: 'user_1',
          result: {
            ...{ ble: {}, cloud: { connected: true }, mqtt: { connected: false }, ws: { connected: false } },
            sys: { mac: 'A8032ABE54DC', unixtime: T / 1000, uptime: 36292, ram_free: 120932 },
            'switch:0': {
              ...{ id: 0, source: 'init', output: false, apower: 10.5, temperature: { tC: 52.9, tF: 127.3 } },
              aenergy: { total: 11.679, by_minute: [0, 0, 0], minute_ts: T / 1000 },
            },
            wifi: { sta_ip: '192.168.1.2', status: 'got ip', rssi: -62 },
          },
        },
      },
      readings: [
        {
          key: 'shellyplus1pm-a8',
          time: T,
          values: {
            ...{ 'switch:0.output': false, 'switch:0.apower': 10.5, 'switch:0.aenergy.total': 11.679 },
            ...{ 'switch:0.temperature.tC': 52.9, 'switch:0.temperature.tF': 127.3 },
          },
        },
      ],
    },
    {
      message: {
        payload: {
          ...{ id: 0, source: 'HTTP', output: true, apower: 8.9, temperature: { tC: 23.5 } },
          aenergy: { total: 6.532, by_minute: [45.2, 47.1, 88.4], minute_ts: T / 1000 },
        },
      },
      readings: [{ values: { output: true, apower: 8.9, 'temperature.tC': 23.5, 'aenergy.total': 6.532 } }],
    },
    {
      message: {
        payload: {
          ...{ wifi_sta: { ssid: 'x', rssi: -60 }, time: '10:00', unixtime: T / 1000, mac: 'A4CF12' },
          meters: [{ power: 12.5, is_valid: true, timestamp: T / 1000, counters: [1, 2, 3], total: 12_345 }],
          temperature: 41.2,
        },
      },
      readings: [
        {
          key: 'A4CF12',
          time: T,
          values: { 'meters.0.power': 12.5, 'meters.0.total': 12_345, temperature: 41.2 },
        },
      ],
    },
    {
      message: { topic: 'shellies/plug-1/relay/0/power', payload: '12.5' },
      readings: [{ key: 'plug-1', values: { 'relay/0/power': '12.5' } }],
    },
    {
      message: {
        topic: 'plug-2/events/rpc',
        payload: {
          src: 'shellyplus1pm-a8',
          dst: 'plug-2/events',
          method: 'NotifyStatus',
          params: {
            ts: T / 1000,
            'switch:0': { id: 0, apower: 8.9, aenergy: { total: 6, by_minute: [1, 2] } },
          },
        },
      },
      readings: [
        { key: 'shellyplus1pm-a8', time: T, values: { 'switch:0.apower': 8.9, 'switch:0.aenergy.total': 6 } },
      ],
    },
  ],
  'The Things Stack': [
    {
      message: {
        topic: 'v3/app@ttn/devices/pump-1/up',
        payload: {
          end_device_ids: { device_id: 'pump-1', application_ids: { application_id: 'app' } },
          received_at: '2026-11-25T10:00:01Z',
          uplink_message: { f_port: 1, decoded_payload: { temperature: 61.5 }, received_at: ISO },
        },
      },
      readings: [{ key: 'pump-1', time: ISO, values: { temperature: 61.5 } }],
    },
    {
      message: {
        payload: ['61.5 °C', '62.5 °C'].map((temperature) => ({
          result: {
            end_device_ids: { device_id: 'pump-1', application_ids: { application_id: 'app' } },
            received_at: ISO,
            uplink_message: { f_port: 1, decoded_payload: { temperature } },
          },
        })),
      },
      readings: [61.5, 62.5].map((temperature) => ({ key: 'pump-1', time: ISO, values: { temperature } })),
    },
  ],
  ChirpStack: [
    {
      message: {
        payload: {
          applicationID: '1',
          deviceName: 'pump 1',
          devEUI: 'AQ==',
          publishedAt: ISO,
          object: { t: 1 },
        },
      },
      readings: [{ key: 'pump 1', time: ISO, values: { t: 1 } }],
    },
  ],
  ThingsBoard: [
    {
      message: {
        payload: {
          temperature: [
            { ts: T, value: '21.5' },
            { ts: T + 1000, value: '21.6' },
          ],
          humidity: [{ ts: T, value: '40' }],
        },
      },
      readings: [
        { time: T, values: { temperature: '21.5', humidity: '40' } },
        { time: T + 1000, values: { temperature: '21.6' } },
      ],
    },
    {
      message: {
        payload: [
          { ts: T, values: { t: 1 } },
          { ts: T + 1000, values: { t: 2 } },
        ],
      },
      readings: [
        { time: T, values: { t: 1 } },
        { time: T + 1000, values: { t: 2 } },
      ],
    },
  ],
  'ThingsBoard gateway': [
    {
      message: {
        payload: { 'Pump A': [{ ts: T, values: { t: 1 } }], 'Pump B': [{ ts: T, values: { t: 2 } }] },
      },
      readings: [
        { key: 'Pump A', time: T, values: { t: 1 } },
        { key: 'Pump B', time: T, values: { t: 2 } },
      ],
    },
  ],
  'OPC UA': [
    {
      message: {
        payload: [
          {
            ...{ NodeId: 'ns=2;s=Temp', ApplicationUri: 'urn:x', DisplayName: 'Temp' },
            Value: { Value: 21.5, SourceTimestamp: ISO },
          },
          {
            ...{ NodeId: 'ns=2;s=Speed', ApplicationUri: 'urn:x', DisplayName: 'Speed' },
            Value: { Value: 5, SourceTimestamp: ISO, StatusCode: { Code: 2_147_483_648, Symbol: 'Bad' } },
          },
        ],
      },
      readings: [{ time: ISO, values: { Temp: 21.5, Speed: null } }],
    },
    {
      message: {
        topic: 'whatever',
        payload: {
          value: { dataType: 11, value: 61.5 },
          statusCode: { value: 0x80000000 },
          sourceTimestamp: ISO,
          displayName: 'Temperature',
        },
      },
      readings: [{ time: ISO, values: { Temperature: null } }],
    },
  ],
  'OPC UA PubSub': [
    {
      message: {
        payload: {
          MessageId: '1',
          MessageType: 'ua-data',
          PublisherId: 'p',
          Messages: [
            {
              DataSetWriterName: 'Motor1',
              Timestamp: ISO,
              Payload: { Temperature: { Value: 61.5, StatusCode: { Code: 0 } }, Speed: 1480 },
            },
          ],
        },
      },
      readings: [{ key: 'Motor1', time: ISO, values: { Temperature: 61.5, Speed: 1480 } }],
    },
  ],
  'Sparkplug B': [
    {
      message: {
        topic: 'factory/line1',
        payload: {
          ...{ timestamp: T, seq: 3 },
          metrics: [
            { name: 'a', timestamp: T, dataType: 'Float', value: 21.5 },
            { name: 'on', timestamp: T, dataType: 'Boolean', value: true },
          ],
        },
      },
      readings: [{ time: T, values: { a: 21.5, on: true } }],
    },
    {
      message: {
        topic: 'spBv1.0/Plant/NDATA/Edge1',
        payload: {
          timestamp: { low: ((T + 5) % 2 ** 32) | 0, high: Math.floor(T / 2 ** 32), unsigned: true },
          metrics: [
            { name: 'a', value: { low: 7, high: 0, unsigned: true } },
            { alias: 4, value: 1 },
          ],
        },
      },
      readings: [{ key: 'Edge1', time: T + 5, values: { a: 7 } }],
    },
  ],
  InfluxDB: [
    {
      message: {
        payload: ['a', 'b'].map((machine, i) => ({
          ...{ result: '_result', table: i, _start: ISO, _stop: ISO, _time: ISO },
          ...{ _value: i, _field: 't', _measurement: 'motor', machine },
        })),
      },
      readings: [
        { key: 'a', time: ISO, values: { t: 0 } },
        { key: 'b', time: ISO, values: { t: 1 } },
      ],
    },
  ],
  'InfluxDB points': [
    {
      message: {
        topic: 'telegraf/h1/cpu',
        payload: `cpu,host=h1,cpu=cpu\\ 0 idle=91.2,user=3i,ok=t,model="a \\"b\\", c=1" ${T}000000\ncpu,host=h2 idle=90 ${T}000000\n`,
      },
      readings: [
        { key: 'h1/cpu 0', time: T, values: { idle: 91.2, user: 3, ok: true, model: 'a "b", c=1' } },
        { key: 'h2', time: T, values: { idle: 90 } },
      ],
    },
    {
      message: { payload: { measurement: 'motor', tags: { m: 'm1' }, fields: { t: 1 }, timestamp: T * 1e6 } },
      readings: [{ key: 'm1', time: T, values: { t: 1 } }],
    },
  ],
  Telegraf: [
    {
      message: {
        payload: {
          metrics: [{ name: 'cpu', tags: { host: 'h' }, fields: { idle: 9 }, timestamp: T / 1000 }],
        },
      },
      readings: [{ key: 'h', time: T, values: { idle: 9 } }],
    },
  ],
  Kafka: [
    {
      message: {
        payload: {
          ...{ topic: 'pumps', partition: 0, offset: '12', key: 'p1', timestamp: `${T}` },
          value: `time,a,b\n${ISO},1,2\n2026-11-25T10:01:00.000Z,3,4\n`,
        },
      },
      readings: [
        { key: 'p1', time: new Date(T), values: { a: 1, b: 2 } },
        { key: 'p1', time: new Date(T + 60_000), values: { a: 3, b: 4 } },
      ],
    },
    {
      message: {
        payload: {
          ...{ topic: 'pumps', partition: 0, offset: '12', key: 'p1', timestamp: `${T}` },
          value: JSON.stringify([
            { time: ISO, a: 1 },
            { time: ISO, a: 2 },
          ]),
        },
      },
      readings: [
        { key: 'p1', time: ISO, values: { a: 1 } },
        { key: 'p1', time: ISO, values: { a: 2 } },
      ],
    },
    {
      message: {
        payload: {
          topic: 'a/b',
          partition: 0,
          offset: '3',
          key: 'p',
          timestamp: `${T}`,
          value: Buffer.from('21.5'),
        },
      },
      readings: [{ key: 'p', time: T, values: { b: '21.5' } }],
    },
  ],
  SenML: [
    {
      message: {
        payload: [
          { bn: 'urn:dev:1:', bt: T / 1000, n: 'temp', u: 'Cel', v: 21 },
          { n: 'open', t: 60, vb: true },
        ],
      },
      readings: [
        { time: T, values: { 'urn:dev:1:temp': 21 } },
        { time: T + 60_000, values: { 'urn:dev:1:open': true } },
      ],
    },
  ],
  Kepware: [
    {
      message: {
        topic: 'iotgateway',
        payload: {
          timestamp: T + 9,
          values: [
            { id: 'Line.Motor.Temp', v: 21.5, q: true, t: T },
            { id: 'Line.Motor.Speed', v: 0, q: false, t: T },
          ],
        },
      },
      readings: [{ time: T, values: { 'Line.Motor.Temp': 21.5, 'Line.Motor.Speed': null } }],
    },
  ],
  Neuron: [
    {
      message: {
        topic: '/neuron/m/upload',
        payload: { node: 'plc1', group: 'g', timestamp: T, values: { temp: 21.5 }, errors: { x: 2014 } },
      },
      readings: [{ key: 'plc1', time: T, values: { temp: 21.5 } }],
    },
  ],
  EdgeX: [
    {
      message: {
        payload: {
          ...{ apiVersion: 'v3', id: 'e', deviceName: 'plc1', profileName: 'p', sourceName: 's' },
          origin: T * 1e6,
          readings: [
            {
              ...{ id: 'r', origin: T * 1e6, deviceName: 'plc1', resourceName: 'Temp' },
              ...{ profileName: 'p', valueType: 'Float32', value: '2.15e+01' },
            },
          ],
        },
      },
      readings: [{ key: 'plc1', time: T, values: { Temp: '2.15e+01' } }],
    },
  ],
  'AWS IoT': [
    {
      message: {
        topic: '$aws/things/t1/shadow/update/delta',
        payload: {
          ...{ version: 10, timestamp: T / 1000, state: { temp: 21 } },
          metadata: { temp: { timestamp: T / 1000 } },
        },
      },
      readings: [{ key: 't1', time: T, values: { temp: 21 } }],
    },
    {
      message: {
        topic: '$aws/things/pump1/shadow/update/documents',
        payload: {
          previous: { state: { reported: { temperature: 20 } }, version: 1 },
          current: { state: { desired: { setpoint: 20 }, reported: { temperature: 21.5 } }, version: 2 },
          timestamp: T / 1000,
        },
      },
      readings: [{ key: 'pump1', time: T, values: { temperature: 21.5 } }],
    },
  ],
  'Azure IoT': [
    {
      message: {
        payload: {
          ...{ deviceId: 'pump-1', etag: 'AAc=', status: 'enabled', version: 2 },
          properties: {
            desired: { $metadata: {}, $version: 1 },
            reported: { battery: 55, $metadata: { $lastUpdated: ISO, battery: {} }, $version: 4 },
          },
        },
      },
      readings: [{ key: 'pump-1', time: ISO, values: { battery: 55 } }],
    },
    {
      message: {
        payload: {
          ...{ applicationId: 'x', deviceId: 'dev1', messageSource: 'telemetry', enqueuedTime: ISO },
          ...{ telemetry: { temperature: 21.5 }, enrichments: {}, messageProperties: {} },
        },
      },
      readings: [{ key: 'dev1', time: ISO, values: { temperature: 21.5 } }],
    },
  ],
  Particle: [
    {
      message: { payload: { event: 'env', data: '{"t":21.5}', ttl: 60, published_at: ISO, coreid: 'c1' } },
      readings: [{ key: 'c1', time: ISO, values: { t: 21.5 } }],
    },
    {
      message: { payload: { event: 'env/t', data: '21.5', ttl: 60, published_at: ISO, coreid: 'c1' } },
      readings: [{ key: 'c1', time: ISO, values: { 'env/t': '21.5' } }],
    },
  ],
  Losant: [
    {
      message: { topic: 'losant/dev1/state', payload: { time: { $date: ISO }, data: { t: 21.5 } } },
      readings: [{ key: 'dev1', time: ISO, values: { t: 21.5 } }],
    },
  ],
  rtl_433: [
    {
      message: {
        topic: 'rtl_433/host/events',
        payload: {
          ...{ time: '2026-11-25 10:00:00', model: 'Acurite-Tower', id: 1234, channel: 'A' },
          ...{ temperature_C: 21.5, mic: 'CHECKSUM' },
        },
      },
      readings: [
        { key: 'Acurite-Tower/A/1234', time: '2026-11-25 10:00:00', values: { temperature_C: 21.5 } },
      ],
    },
  ],
  deCONZ: [
    {
      message: {
        payload: {
          ...{ e: 'changed', id: '5', r: 'sensors', t: 'event', uniqueid: '00:15' },
          state: { lastupdated: '2026-11-25T10:00:00.000', temperature: 2150 },
        },
      },
      readings: [{ key: '00:15', values: { temperature: 2150 } }],
    },
  ],
  ThingPark: [
    {
      message: {
        payload: { DevEUI_uplink: { Time: ISO, DevEUI: '24E1', payload_hex: '01', payload: { t: 21.5 } } },
      },
      readings: [{ key: '24E1', time: ISO, values: { t: 21.5 } }],
    },
  ],
  Loriot: [
    {
      message: { payload: { cmd: 'rx', EUI: '24E1', ts: T, fcnt: 3, data: '01', decoded: { t: 21.5 } } },
      readings: [{ key: '24E1', time: T, values: { t: 21.5 } }],
    },
  ],
  'Forecast.Solar': [
    {
      message: {
        payload: {
          result: {
            watts: { '2026-11-25 10:00:00': 120, '2026-11-25 11:00:00': 140 },
            watt_hours_period: { '2026-11-25 11:00:00': 130 },
            watt_hours_day: { '2026-11-25': 900 },
          },
          message: { code: 0 },
        },
      },
      readings: [
        { time: '2026-11-25 10:00:00', values: { watts: 120 } },
        { time: '2026-11-25 11:00:00', values: { watts: 140, watt_hours_period: 130 } },
      ],
    },
  ],
  Solcast: [
    {
      message: { payload: { forecasts: [{ pv_estimate: 1.2, period_end: ISO, period: 'PT30M' }] } },
      readings: [{ time: ISO, values: { pv_estimate: 1.2 } }],
    },
  ],
  OpenWeatherMap: [
    {
      message: {
        payload: {
          list: [{ dt: T / 1000, main: { temp: 3 }, weather: [{ id: 1 }], dt_txt: '2026-11-25 10:00:00' }],
        },
      },
      readings: [{ time: T, values: { 'main.temp': 3 } }],
    },
  ],
  'MET Norway': [
    {
      message: {
        payload: {
          properties: { timeseries: [{ time: ISO, data: { instant: { details: { air_temperature: 3 } } } }] },
        },
      },
      readings: [{ time: ISO, values: { air_temperature: 3 } }],
    },
  ],
  UMH: [
    {
      message: { topic: 'umh/v1/a/b/_historian/x', payload: { timestamp_ms: T, axis: { x: 1 } } },
      readings: [{ time: T, values: { 'axis.x': 1 } }],
    },
  ],
  KNX: [
    {
      message: {
        topic: '0/1/2',
        payload: 21.5,
        devicename: 'Office temperature',
        knx: { event: 'GroupValue_Write', dpt: '9.001', source: '1.1.4', destination: '0/1/2' },
      },
      readings: [{ values: { 'Office temperature': 21.5 } }],
    },
  ],
  SiteWise: [
    {
      message: {
        payload: {
          type: 'PropertyValueUpdate',
          payload: {
            ...{ assetId: 'asset', propertyId: 'temp' },
            values: [
              {
                timestamp: { timeInSeconds: T / 1000, offsetInNanos: 7e6 },
                ...{ quality: 'GOOD', value: { doubleValue: 61.5 } },
              },
            ],
          },
        },
      },
      readings: [{ key: 'asset', time: T + 7, values: { temp: 61.5 } }],
    },
    {
      message: {
        payload: {
          propertyAlias: '/line/temp',
          propertyValues: [
            { timestamp: { timeInSeconds: T / 1000 }, quality: 'BAD', value: { integerValue: 3 } },
          ],
        },
      },
      readings: [{ time: T, values: { '/line/temp': null } }],
    },
  ],
  Victron: [
    {
      message: { topic: 'N/c0619ab1/battery/256/Dc/0/Voltage', payload: '{"value": 26.5}' },
      readings: [{ key: 'c0619ab1', values: { 'battery/256/Dc/0/Voltage': 26.5 } }],
    },
  ],
  'Open-Meteo': [
    {
      message: {
        payload: {
          latitude: 52,
          utc_offset_seconds: 3600,
          hourly: { time: ['2026-11-25T11:00', '2026-11-25T12:00'], temperature_2m: [3, 2] },
        },
      },
      readings: [
        { time: T, values: { temperature_2m: 3 } },
        { time: T + 3_600_000, values: { temperature_2m: 2 } },
      ],
    },
  ],
  prices: [
    {
      message: { payload: { unix_seconds: [T / 1000, T / 1000 + 3600], price: [50, 51], unit: 'EUR / MWh' } },
      readings: [
        { time: T, values: { price: 50 } },
        { time: T + 3_600_000, values: { price: 51 } },
      ],
    },
    {
      message: {
        payload: { currency: 'EUR', today: [{ total: 0.2, energy: 0.1, startsAt: ISO }], tomorrow: [] },
      },
      readings: [{ time: ISO, values: { total: 0.2, energy: 0.1 } }],
    },
    {
      message: {
        payload: {
          object: 'list',
          data: [{ start_timestamp: T, end_timestamp: T + 1, marketprice: 90, unit: 'Eur/MWh' }],
        },
      },
      readings: [{ time: T, values: { marketprice: 90, unit: 'Eur/MWh' } }],
    },
  ],
  ZHA: [
    {
      message: {
        topic: 'zha_event',
        payload: {
          event_type: 'zha_event',
          data: {
            ...{ device_ieee: '28:6d:97:00', unique_id: '28:6d:97:00:1:0xfc02', endpoint_id: 1 },
            ...{ cluster_id: 64514, command: 'attribute_updated' },
            args: { attribute_id: 18, attribute_name: 'x_axis', value: 50 },
          },
          time_fired: ISO,
        },
      },
      readings: [{ key: '28:6d:97:00', time: ISO, values: { x_axis: 50 } }],
    },
  ],
  Matter: [
    {
      message: { payload: { event: 'attribute_updated', data: [5, '1/1026/0', 2150] } },
      readings: [{ key: '5', values: { '1/1026/0': 2150 } }],
    },
  ],
  ioBroker: [
    {
      message: {
        topic: 'hm-rpc/0/ABC/1/TEMPERATURE',
        payload: { val: 21.5, ack: true, ts: T, q: 0, from: 'system.adapter.hm-rpc.0', lc: T - 9 },
      },
      readings: [{ time: T, values: { 'hm-rpc/0/ABC/1/TEMPERATURE': 21.5 } }],
    },
  ],
  BACnet: [
    {
      message: {
        payload: {
          len: 10,
          objectId: { type: 0, instance: 3 },
          property: { id: 85, index: 4294967295 },
          values: [{ type: 4, value: 21.5 }],
        },
      },
      readings: [{ values: { '0.3.85': 21.5 } }],
    },
    {
      message: {
        payload: {
          values: [
            {
              objectId: { type: 0, instance: 3 },
              values: [
                { id: 85, index: 4294967295, value: [{ type: 4, value: 21.5 }] },
                { id: 77, index: 4294967295, value: [{ type: 7, value: 'Room' }] },
              ],
            },
            { objectId: { type: 0, instance: 4 }, values: [{ id: 85, value: [{ type: 4, value: 3 }] }] },
          ],
        },
      },
      readings: [{ values: { '0.3.85': 21.5, '0.3.77': 'Room', '0.4.85': 3 } }],
    },
  ],
  SolarEdge: [
    {
      message: {
        payload: {
          energy: {
            timeUnit: 'DAY',
            unit: 'Wh',
            values: [
              { date: '2026-11-24 00:00:00', value: null },
              { date: '2026-11-25 00:00:00', value: 67_313.24 },
            ],
          },
        },
      },
      readings: [
        { time: '2026-11-24 00:00:00', values: { Wh: null } },
        { time: '2026-11-25 00:00:00', values: { Wh: 67_313.24 } },
      ],
    },
    {
      message: {
        payload: {
          powerDetails: {
            timeUnit: 'QUARTER_OF_AN_HOUR',
            unit: 'W',
            meters: [
              { type: 'Consumption', values: [{ date: '2026-11-25 11:00:00', value: 619 }] },
              { type: 'Purchased', values: [{ date: '2026-11-25 11:00:00', value: 474 }] },
            ],
          },
        },
      },
      readings: [{ time: '2026-11-25 11:00:00', values: { 'Consumption.W': 619, 'Purchased.W': 474 } }],
    },
  ],
  'The Things Network': [
    {
      message: {
        topic: 'my-app/devices/pump-1/up',
        payload: {
          ...{ app_id: 'my-app', dev_id: 'pump-1', hardware_serial: '0102030405060708', port: 1, counter: 2 },
          payload_raw: 'AQIDBA==',
          payload_fields: { temperature: 61.5 },
          metadata: { time: ISO, frequency: 868.1, gateways: [{ gtw_id: 'g', time: ISO, rssi: -25 }] },
        },
      },
      readings: [{ key: 'pump-1', time: ISO, values: { temperature: 61.5 } }],
    },
  ],
  'Kafka Connect': [
    {
      message: {
        payload: {
          schema: { type: 'struct', fields: [{ type: 'int32', optional: true, field: 'c1' }] },
          payload: { c1: 21.5, timestamp: T },
        },
      },
      readings: [{ time: T, values: { c1: 21.5 } }],
    },
  ],
  Debezium: [
    {
      message: {
        payload: {
          schema: { type: 'struct', fields: [] },
          payload: {
            before: { id: 4, temp: 20 },
            after: { id: 4, temp: 21.5 },
            source: { version: '2.3', connector: 'mysql', ts_ms: T, table: 'pumps' },
            ...{ op: 'u', ts_ms: T + 123 },
          },
        },
      },
      readings: [{ time: T, values: { id: 4, temp: 21.5 } }],
    },
  ],
  ThingSpeak: [
    {
      message: {
        payload: {
          channel: { id: 9, name: 'my_house', field1: 'Light', created_at: '2010-12-14T01:20:06Z' },
          feeds: [{ created_at: ISO, entry_id: 13_633_194, field1: '199', field2: '28.2' }],
        },
      },
      readings: [{ key: '9', time: ISO, values: { field1: '199', field2: '28.2' } }],
    },
  ],
  Cumulocity: [
    {
      message: {
        payload: {
          ...{ id: '1001', self: 'https://…', type: 'c8y_Temperature', time: ISO, source: { id: '251982' } },
          c8y_Temperature: { T: { value: 21.5, unit: 'C' } },
        },
      },
      readings: [{ key: '251982', time: ISO, values: { 'c8y_Temperature.T': 21.5 } }],
    },
  ],
  MindSphere: [
    {
      message: {
        payload: [
          {
            timestamp: ISO,
            values: [
              { dataPointId: 'dp1', value: '21.5', qualityCode: '0' },
              { dataPointId: 'dp2', value: '3', qualityCode: '0' },
            ],
          },
        ],
      },
      readings: [{ time: ISO, values: { dp1: '21.5', dp2: '3' } }],
    },
  ],
  FIWARE: [
    {
      message: {
        payload: {
          subscriptionId: '57',
          data: [{ id: 'Room1', type: 'Room', temperature: { value: 28.5, type: 'Float', metadata: {} } }],
        },
      },
      readings: [{ key: 'Room1', values: { temperature: 28.5 } }],
    },
    {
      message: {
        payload: {
          ...{ id: 'urn:n:1', type: 'Notification', subscriptionId: 'urn:s:1', notifiedAt: ISO },
          data: [
            {
              ...{ id: 'Room1', type: 'Room', '@context': ['x'] },
              temperature: { type: 'Property', value: 23, unitCode: 'CEL', observedAt: ISO },
            },
          ],
        },
      },
      readings: [{ key: 'Room1', time: ISO, values: { temperature: 23 } }],
    },
  ],
  Prometheus: [
    {
      message: {
        payload: {
          status: 'success',
          data: {
            resultType: 'vector',
            result: [
              { metric: { __name__: 'up', job: 'node', instance: 'a:9090' }, value: [T / 1000, '1'] },
              { metric: { __name__: 'load', job: 'node', instance: 'a:9090' }, value: [T / 1000, '0.5'] },
              { metric: { instance: 'b:9090' }, value: [T / 1000, '2'] },
            ],
          },
        },
      },
      readings: [
        { key: 'node/a:9090', time: T, values: { up: '1', load: '0.5' } },
        { key: 'b:9090', time: T, values: { value: '2' } },
      ],
    },
    {
      message: {
        payload: {
          status: 'success',
          data: {
            resultType: 'matrix',
            result: [
              {
                metric: { __name__: 'up', instance: 'a' },
                values: [
                  [T / 1000, '1'],
                  [T / 1000 + 15, '0'],
                ],
              },
              { metric: { __name__: 'load', instance: 'a' }, values: [[T / 1000, '5']] },
            ],
          },
        },
      },
      readings: [
        { key: 'a', time: T, values: { up: '1', load: '5' } },
        { key: 'a', time: T + 15_000, values: { up: '0' } },
      ],
    },
  ],
  Grafana: [
    {
      message: {
        payload: {
          ...{ receiver: 'My Super Webhook', status: 'firing', orgId: 1, version: '1' },
          alerts: [
            {
              status: 'firing',
              labels: { alertname: 'High memory usage', zone: 'us-1' },
              annotations: { summary: 'for zone us-1' },
              ...{ startsAt: ISO, endsAt: '0001-01-01T00:00:00Z', values: { B: 44.2, C: 1 } },
            },
          ],
        },
      },
      readings: [{ key: 'High memory usage/us-1', values: { B: 44.2, C: 1 } }],
    },
  ],
  OCPP: [
    {
      message: {
        payload: [
          2,
          '19223201',
          'MeterValues',
          {
            connectorId: 1,
            meterValue: [
              {
                timestamp: ISO,
                sampledValue: [
                  { value: '1234.5' },
                  { value: '16.1', measurand: 'Current.Import', phase: 'L1', unit: 'A' },
                  { value: '16.2', measurand: 'Current.Import', phase: 'L2', unit: 'A' },
                ],
              },
            ],
          },
        ],
      },
      readings: [
        {
          key: '1',
          time: ISO,
          values: {
            'Energy.Active.Import.Register': '1234.5',
            'Current.Import.L1': '16.1',
            'Current.Import.L2': '16.2',
          },
        },
      ],
    },
  ],
  SensorThings: [
    {
      message: {
        topic: 'v1.0/Datastreams(7)/Observations',
        payload: {
          ...{
            '@iot.id': 1,
            '@iot.selfLink': 'https://…',
            phenomenonTime: ISO,
            resultTime: ISO,
            result: 70.4,
          },
          'Datastream@iot.navigationLink': 'https://…',
        },
      },
      readings: [{ key: '7', time: ISO, values: { result: 70.4 } }],
    },
    {
      message: {
        payload: { value: [{ '@iot.id': 1, phenomenonTime: ISO, resultTime: null, result: 70.4 }] },
      },
      readings: [{ time: ISO, values: { result: 70.4 } }],
    },
  ],
  GeoJSON: [
    {
      message: {
        payload: {
          type: 'FeatureCollection',
          features: [
            {
              type: 'Feature',
              geometry: { type: 'Point', coordinates: [8.5, 47.3] },
              properties: { station: 's1', temp: 21.5, time: ISO },
            },
          ],
        },
      },
      readings: [{ key: 's1', time: ISO, values: { station: 's1', temp: 21.5 } }],
    },
  ],
};

/** A reader with these settings, and what it tells. */
function reader(settings: Partial<MessageSettings> = {}): { reader: MessageReader; notes: MessageNote[] } {
  const notes: MessageNote[] = [];
  return { reader: new MessageReader({ names: [], ...settings }, (note) => notes.push(note)), notes };
}

async function readingsIn(
  message: SourceMessage,
  settings?: Partial<MessageSettings>,
): Promise<{ shape?: string; readings: MessageReading[]; notes: MessageNote[] }> {
  const { reader: opened, notes } = reader(settings);
  const read = opened.read(message);
  const readings = [...(read?.readings ?? [])];
  for await (const one of read?.table ?? []) {
    readings.push(one);
  }
  return { shape: read?.shape, readings, notes };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the shapes of messages', () => {
  for (const [shape, examples] of Object.entries(EXAMPLES)) {
    for (const [i, { message, readings }] of examples.entries()) {
      it(`${shape}${examples.length > 1 ? `, example ${i + 1}` : ''}`, async () => {
        const found = await readingsIn(message);
        assert.equal(found.shape, shape);
        assert.deepEqual(plain(found.readings), plain(readings));
      });
    }
  }

  for (const { shape, source, message, readings, notes = 0 } of REAL_MESSAGES) {
    it(`${shape ?? 'none'}, ${source}`, async () => {
      const found = await readingsIn(message);
      assert.equal(found.shape, shape);
      assert.deepEqual(plain(found.readings), plain(readings));
      assert.equal(found.notes.length, notes);
    });
  }

  it('all stand in docs/sources.md', () => {
    // "InfluxDB points" are of InfluxDB.
    const sources = SHAPES.map(({ name }) => name.replace(/ [a-z]+$/, ''));
    const page = readFileSync('docs/sources.md', 'utf8');
    assert.deepEqual(
      sources.filter((name) => !page.includes(name)),
      [],
    );
  });

  it('all have an example', () => {
    const shown = new Set([...Object.keys(EXAMPLES), ...REAL_MESSAGES.map(({ shape }) => shape)]);
    assert.deepEqual(
      [...new Set(SHAPES.map(({ name }) => name))].filter((name) => !shown.has(name)),
      [],
    );
  });

  it('are not taken where two could be meant', async () => {
    const { shape, readings } = await readingsIn({
      payload: {
        ...{ ts: T, values: { a: 1 } },
        ...{ measurement: 'm', fields: { b: 2 } },
      },
    });
    assert.equal(shape, undefined);
    assert.deepEqual(plain(readings), [
      { time: T, values: { 'values.a': 1, measurement: 'm', 'fields.b': 2 } },
    ]);
  });
});

describe('messages with the same names', () => {
  it('have a shape each by what they hold, whichever comes first', async () => {
    const shapeOf = async (payload: Record<string, unknown>): Promise<string | undefined> =>
      (await readingsIn({ payload })).shape;
    const other = { entity_id: 5, state: { a: 1 }, last_updated: true };
    const state = { entity_id: 'sensor.t', state: '61.5', last_updated: ISO };
    assert.equal(await shapeOf(other), undefined);
    assert.equal(await shapeOf(state), 'Home Assistant');
    assert.equal(await shapeOf(other), undefined);
  });

  it('have a shape by what stands beside the payload', async () => {
    const payload = { a: 1 };
    const data = { entity_id: 'sensor.t', state: '61.5', last_updated: ISO };
    assert.equal((await readingsIn({ payload })).shape, undefined);
    assert.equal((await readingsIn({ payload, data })).shape, 'Home Assistant');
  });
});

describe('a table of a text that is too long to be opened at once', () => {
  const tabled = async (
    rows: Record<string, unknown>[],
  ): Promise<{ readings: MessageReading[]; notes: MessageNote[] }> => {
    const { reader: tables, notes } = reader();
    const readings: MessageReading[] = [];
    for await (const one of tables.table(rows, Object.keys(rows[0]!))) {
      readings.push(one);
    }
    return { readings, notes };
  };

  it('is the list of readings within its one object', async () => {
    const list = [1, 2, 3].map((temp) => ({ MESS_DATUM: `2026-01-0${temp}`, temp }));
    const { readings, notes } = await tabled([
      { station: 'Augsburg', MESS_DATUM: 'Tag der Messung', data: list },
    ]);
    assert.deepEqual(
      readings.map(({ time, values }) => [time, values]),
      list.map(({ MESS_DATUM: time, temp }) => [time, { station: 'Augsburg', temp }]),
    );
    assert.deepEqual(notes, []);
  });

  it('is of a source where each line is an envelope of it', async () => {
    const lines = [1, 2].map((temp) => ({
      result: {
        end_device_ids: { device_id: 'pump-1' },
        received_at: ISO,
        uplink_message: { decoded_payload: { temp } },
      },
    }));
    const { readings } = await tabled(lines);
    assert.deepEqual(
      plain(readings),
      [1, 2].map((temp) => ({ key: 'pump-1', time: ISO, values: { temp } })),
    );
  });

  it('is said to have left out lists of objects, which names do not help', async () => {
    const { notes } = await tabled([
      {
        a: 1,
        list: [
          { recv: 1, v: 2 },
          { recv: 2, v: 3 },
        ],
      },
    ]);
    assert.equal(
      notes[0]?.text,
      'The list "list" has 2 objects without a name: left out, as in later messages. If they are readings, send the list by itself.',
    );
  });
});

describe('a table with a column for each time', () => {
  const NAMES = ['sensor', '2026-01-01', '2026-01-02', '2026-01-03'];
  const ROWS = [
    { sensor: 'temp', '2026-01-01': 21.5, '2026-01-02': 21.6, '2026-01-03': null },
    { sensor: '__proto__', '2026-01-01': 1, '2026-01-02': 2, '2026-01-03': 3 },
  ];
  const turned = async (
    rows: Record<string, unknown>[],
    names: readonly string[],
    settings?: Partial<MessageSettings>,
  ): Promise<unknown[]> => {
    const readings: MessageReading[] = [];
    for await (const one of reader(settings).reader.table(rows, names)) {
      readings.push(one);
    }
    return readings.map(({ key, time, values }) => [key, time, Object.entries(values)]);
  };

  it('is a reading for each time, whose columns the cells beside the times name', async () => {
    assert.deepEqual(await turned(ROWS, NAMES), [
      [undefined, '2026-01-01', Object.entries({ temp: 21.5, ['__proto__']: 1 })],
      [undefined, '2026-01-02', Object.entries({ temp: 21.6, ['__proto__']: 2 })],
      [undefined, '2026-01-03', Object.entries({ temp: null, ['__proto__']: 3 })],
    ]);
  });

  it('has a machine in each row where the key is chosen to be there', async () => {
    const found = await turned(ROWS, NAMES, { keyColumn: 'sensor' });
    assert.deepEqual(found[0], ['temp', '2026-01-01', [['value', 21.5]]]);
    assert.deepEqual(found[5], ['__proto__', '2026-01-03', [['value', 3]]]);
  });

  it('is refused where several columns stand beside the times, and is none where one has the time', async () => {
    const rows = [{ site: 'a', ...ROWS[0] }];
    await assert.rejects(turned(rows, ['site', ...NAMES]), (error: { code?: string; message: string }) => {
      assert.match(
        error.message,
        /^The names of 3 columns are dates \("2026-01-01", "2026-01-02", …\)\..* a row for each time/,
      );
      return error.code === 'table.invalid';
    });
    const timed = await turned([{ time: ISO, ...ROWS[0] }], ['time', ...NAMES]);
    assert.equal((timed[0] as unknown[])[1], ISO);
    assert.equal((await turned([{ a: 1, '2026-01-01': 2 }], ['a', '2026-01-01'])).length, 1);
  });
});

describe('messages without a shape', () => {
  const one = async (message: SourceMessage, settings?: Partial<MessageSettings>): Promise<MessageReading> =>
    (await readingsIn(message, settings)).readings[0]!;

  it('are columns with dots, of JSON in text as well; a value with its unit is a value', async () => {
    const payload = {
      a: { b: { c: 1 } },
      text: '{"x": 2}',
      power: { value: 5, unit: 'W' },
      on: true,
      none: null,
    };
    assert.deepEqual((await one({ payload })).values, {
      ...{ 'a.b.c': 1, 'text.x': 2, power: 5, on: true, none: null },
    });
  });

  it('are a single value named beside it, which several may be on one topic', async () => {
    const tag = { tag: 'Temp', value: 21.5, quality: 'Good', timestamp: T };
    for (const message of [{ payload: tag }, { topic: 'plant/tags', payload: tag }]) {
      assert.deepEqual(plain(await one(message)), { time: T, values: { Temp: 21.5 } });
    }
    const named = { name: 'Temp', value: 21.5, unit: '°C' };
    assert.deepEqual((await one({ payload: named })).values, { Temp: 21.5 });
    assert.deepEqual((await one({ topic: 'p1/temperature', payload: named })).values, { temperature: 21.5 });
    const keyed = await one({ payload: { sensor: 'a', value: 1 } }, { keyColumn: 'sensor' });
    assert.deepEqual([keyed.key, keyed.values], ['a', { value: 1 }]);
  });

  it('are the values of a list that are named in it, with the old value and the like left out', async () => {
    const lists: [unknown, unknown][] = [
      [
        {
          timestamp: ISO,
          score: 90,
          sensors: [
            { comp: 'temp', value: 21.5 },
            { comp: 'co2', value: 500 },
          ],
        },
        { score: 90, 'sensors.temp': 21.5, 'sensors.co2': 500 },
      ],
      [
        {
          sensordatavalues: [
            { value_type: 'SDS_P1', value: '8.40' },
            { value_type: 'SDS_P2', value: '3' },
          ],
        },
        { 'sensordatavalues.SDS_P1': '8.40', 'sensordatavalues.SDS_P2': '3' },
      ],
      [{ status: [{ code: 'temp', value: 215, t: T, '6': 215 }] }, { 'status.temp': 215 }],
      [{ tags: [{ tagPath: '[default]A', value: 1, quality: 'Good' }] }, { 'tags.[default]A': 1 }],
      [
        [
          { parameterId: '40004', parameterName: 'Outdoor', value: 5.1, strVal: '5.1°C', timestamp: ISO },
          { parameterId: '40008', parameterName: 'Supply', value: 35, strVal: '35°C', timestamp: ISO },
        ],
        { Outdoor: 5.1, Supply: 35 },
      ],
      [
        { external: [{ unique_id: 'a', type: 'gas', timestamp: 210314112233, value: 25.6 }] },
        { 'external.gas': 25.6 },
      ],
    ];
    for (const [payload, values] of lists) {
      const { reader: read } = reader();
      assert.deepEqual(read.read({ payload })?.readings[0]?.values, values);
    }
    const more = {
      list: [
        { name: 'a', value: 1, power: 3 },
        { name: 'b', value: 1, power: 4 },
      ],
      x: 1,
    };
    assert.deepEqual((await one({ payload: more })).values, { x: 1 });
    const twice = {
      list: [
        { name: 'a', value: 1 },
        { name: 'a', value: 2 },
      ],
      x: 1,
    };
    assert.deepEqual((await one({ payload: twice })).values, { x: 1 });
    const { reader: named, notes } = reader();
    const { readings } = named.read({ payload: { 'a.b': 1, a: { b: 2 }, x: 3 } })!;
    assert.deepEqual(readings[0]!.values, { 'a.b': 2, x: 3 });
    assert.deepEqual(
      notes.map(({ kind, column }) => [kind, column]),
      [['twice', 'a.b']],
    );
    assert.deepEqual((await one({ topic: 'LivingTemp', payload: { value: 21.5, oldValue: 21.4 } })).values, {
      LivingTemp: 21.5,
    });
  });

  it('are names with numbers in a text, and numbers that there are names for', async () => {
    const pairs = await one({ topic: 'emon/emontx', payload: 'power1:100,power2:-200,vrms:230.1' });
    assert.deepEqual(pairs.values, { power1: 100, power2: -200, vrms: 230.1 });
    assert.deepEqual((await one({ topic: 'a', payload: 'T=21.5;H=40' })).values, { T: 21.5, H: 40 });
    for (const text of ['temp=21.5 hum=40', 'temp:21.5  hum:40\n', 'temp=21.5 hum=40,']) {
      const { values } = await one({ topic: 'a/b', payload: text });
      assert.deepEqual(values, text.endsWith(',') ? { b: text } : { temp: 21.5, hum: 40 });
    }
    const line = await one({ topic: 'a/b', payload: 'x=y hum=40 1732000000000000000' });
    assert.deepEqual(line.values, { hum: 40 });
    const csv = { topic: 'emonhub/rx/10/values', payload: '100,200,230.1' };
    assert.deepEqual((await one(csv, { names: ['p1', 'p2', 'v'] })).values, { p1: 100, p2: 200, v: 230.1 });
    for (const text of ['12:30', '12:30 13:40', 'a=1 b=on', 'mode:auto,x:1', '21,5', 'see http://x:80/']) {
      assert.deepEqual((await one({ topic: 'a/b', payload: text })).values, { b: text });
    }
  });

  it('have the time that stands beside a value, where nothing else tells it', async () => {
    const payload = { t: { value: 21.5, timestamp: T, context: { lat: 1 } }, h: { value: 40 } };
    assert.deepEqual(plain(await one({ payload })), { time: T, values: { t: 21.5, h: 40 } });
    const odd = await one({ payload: { t: { value: 21.5, time: 5 } } });
    assert.deepEqual([odd.time, odd.values], [undefined, { t: 21.5 }]);
  });

  it('are no line protocol of InfluxDB where they only look like it', async () => {
    for (const text of ['a=b', 'state ok=yes maybe', 'x y=1 z', 'mode auto=on,off']) {
      assert.deepEqual((await one({ topic: 'a/b', payload: text })).values, { b: text });
    }
  });

  it('are a single value on a topic: {"value": 21}, with its time, and missing where its quality is bad', async () => {
    const message = { topic: 'plant/pump1/temperature', payload: { value: 21, unit: '°C', timestamp: T } };
    assert.deepEqual(plain(await one(message)), { key: 'pump1', time: T, values: { temperature: 21 } });
    const bad = await one({ topic: 'a/b', payload: { value: 21, quality: 'bad' } });
    assert.deepEqual(bad.values, { b: null });
    const da = await one({ topic: 'a/b', payload: { value: 21, quality: 192 } });
    assert.deepEqual(da.values, { b: 21 });
  });

  for (const [name, time] of [
    ['_time', ISO],
    ['timestamp_ms', T],
    ['dateTime', T / 1000],
    ['received_at', ISO],
    ['created_at', `${T}`],
    ['last_seen', T * 1000],
    ['lastUpdated', T * 1e6],
    ['sourceTimestamp', ISO],
  ] as const) {
    it(`have their time under ${name}: ${time}`, async () => {
      const { time: told, values } = await one({ payload: { [name]: time, x: 1 } });
      assert.equal(new Date(told as number).getTime(), T);
      assert.deepEqual(values, { x: 1 });
    });
  }

  it('keep an empty time, which is an error where others have one, and no text of a date', async () => {
    const { time, values } = await one({ payload: { time: null, x: 1, next_run: ISO } });
    assert.deepEqual([time, values], [undefined, { time: null, x: 1 }]);
  });

  it('have no sensor in the time of something else, whatever word stands beside it', async () => {
    // https://github.com/blakeblackshear/frigate (docs: integrations/mqtt), webhooks of SwitchBot
    const after = { frame_time: T / 1000 + 0.5, start_time: T / 1000, score: 0.87, run_time: 120 };
    const { values } = await one({ payload: { after, context: { timeOfSample: T, temperature: 22.5 } } });
    assert.deepEqual(values, { 'after.score': 0.87, 'after.run_time': 120, 'context.temperature': 22.5 });
  });

  it('have their time beside the payload, or where a person says', async () => {
    const message = { topic: 'a/b', payload: 1, sourceTimestamp: ISO, other: { at: T } };
    assert.equal((await one(message)).time, ISO);
    assert.equal((await one(message, { time: 'msg.other.at' })).time, T);
    assert.equal((await one({ payload: { meta: { at: T }, x: 1 } }, { time: 'meta.at' })).time, T);
  });

  it('give lists the names that there are, and leave out longer ones, told once', () => {
    const named = reader({ names: ['a', 'b'] });
    const values = [1, 2, 3].map(() => named.reader.read({ payload: [5, 6, 7] })!.readings[0]!.values);
    assert.deepEqual(values[2], { a: 5, b: 6 });
    const nested = named.reader.read({ payload: { x: 1, list: [1, 2], long: [1, 2, 3] } })!.readings[0]!;
    assert.deepEqual(nested.values, { x: 1, 'list.a': 1, 'list.b': 2 });
    assert.deepEqual(
      named.notes.map(({ kind, column }) => [kind, column]),
      [
        ['list', ''],
        ['list', 'long'],
      ],
    );
  });

  it('are numbers with one unit; in another unit they are missing, told once', () => {
    const { reader: units, notes } = reader();
    const values = ['21.3 °C', '21,5 °C', '70 °F', '71 °F', '22 °C'].map(
      (payload) => units.read({ topic: 'a/t', payload })!.readings[0]!.values.t,
    );
    assert.deepEqual(values, [21.3, 21.5, null, null, 22]);
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['unit'],
    );
  });

  it('are tables where they have lists of columns, CSV, or rows', () => {
    const { reader: tables } = reader();
    for (const payload of [{ a: [1, 2], b: [3, 4] }, 'a,b\n1,2', [{ a: 1 }, { a: 2 }], Buffer.from([0, 1])]) {
      assert.equal(tables.read({ topic: 'x/y', payload }), undefined);
    }
  });
});

describe('a pattern of topics', () => {
  for (const [pattern, topic, parts] of [
    ['shellies/+/#', 'shellies/em/emeter/0/power', { key: 'em', rest: 'emeter/0/power' }],
    ['plant/+/#', 'plant/p1', { key: 'p1' }],
    ['{key}/status/{column}', 'dev/status/switch:0', { key: 'dev', column: 'switch:0' }],
    ['{key}/sensor/{column}/state', 'node/sensor/t/state', { key: 'node', column: 't' }],
    ['+/{key}/{column}', 'any/p1/a/b', { key: 'p1', column: 'a/b' }],
    ['plant/+', 'plant/p1/x', undefined],
    ['{key}/x', '/x', undefined],
  ] as const) {
    it(`${pattern} ${parts === undefined ? 'is not' : 'fits'} ${topic}`, () => {
      assert.ok(TopicPattern.isValid(pattern));
      assert.deepEqual(new TopicPattern(pattern).match(topic), parts);
    });
  }

  it('has one place for the key, and its rest at the end', () => {
    for (const pattern of ['a/+/+', 'a/#/+', 'a/b', '{key}/{key}', 'a{key}/b', '+/#/x']) {
      assert.equal(TopicPattern.isValid(pattern), false, pattern);
    }
  });
});
