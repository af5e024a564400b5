import type { MessageReading, SourceMessage } from '../../doors/messages';

/** A message as its source documents or tests it, and the readings that it has. */
export interface RealMessage {
  shape: string | undefined;
  /** Where it was read: the file or page that the shape cites. */
  source: string;
  message: SourceMessage;
  readings: Partial<MessageReading>[];
  /** Whether a list, or a value of bad quality, is left out and said. */
  notes?: number;
}

const T = Date.UTC(2026, 10, 25, 10);
const ISO = new Date(T).toISOString();

/** Uplinks that nobody has decoded, as the pages of their shapes have them without a decoder: the device's key alone. */
const RAW: readonly RealMessage[] = (
  [
    [
      'ChirpStack',
      '24e124136b',
      {
        ...{ time: ISO, deviceInfo: { devEui: '24e124136b', deviceName: 'em300' }, fCnt: 4, fPort: 85 },
        ...{ data: 'AXVk', object: null, rxInfo: [{ rssi: -50, snr: 9 }], txInfo: { frequency: 868100000 } },
      },
    ],
    [
      'ChirpStack',
      'd1',
      {
        ...{ applicationID: '1', deviceName: 'd1', devEUI: 'AgICAgICAgI=', fCnt: 10, fPort: 5 },
        ...{ data: 'AQID', objectJSON: '', rxInfo: [{ time: ISO, rssi: -48 }] },
      },
    ],
    [
      'The Things Stack',
      'dev1',
      {
        ...{ end_device_ids: { device_id: 'dev1' }, received_at: ISO },
        uplink_message: { f_cnt: 1, f_port: 1, frm_payload: 'gkHe', rx_metadata: [{ rssi: -35 }] },
      },
    ],
    [
      'The Things Network',
      'dev1',
      { app_id: 'a', dev_id: 'dev1', counter: 2, payload_raw: 'AQI=', metadata: { time: ISO } },
    ],
    [
      'Helium',
      '6081',
      {
        ...{ dev_eui: '6081', fcnt: 9, hotspots: [{ rssi: -50 }], payload: 'AAEC' },
        ...{ port: 1, reported_at: T },
      },
    ],
    ['ThingPark', '20', { DevEUI_uplink: { DevEUI: '20', Time: ISO, payload_hex: '9e1c', LrrRSSI: -50 } }],
    ['Loriot', 'be7a', { cmd: 'rx', EUI: 'be7a', ts: T, fcnt: 2, port: 1, rssi: -60, data: '0167' }],
    ['Sigfox', '1A2B', { device: '1A2B', time: T / 1000, seqNumber: 5, data: '00ff' }],
  ] as const
).map(([shape, key, payload]) => ({
  ...{ shape, source: 'the page of its shape', message: { payload } },
  readings: [{ key, time: ['Helium', 'Loriot', 'Sigfox'].includes(shape) ? T : ISO, values: {} }],
  notes: 1,
}));

export const REAL_MESSAGES: readonly RealMessage[] = [
  ...RAW,
  {
    shape: 'ChirpStack',
    source: 'chirpstack: docs/chirpstack/integrations/events.html (up, of MAC commands alone)',
    message: { payload: { time: ISO, deviceInfo: { devEui: '24e1' }, fCnt: 5, rxInfo: [{ rssi: -50 }] } },
    readings: [{ key: '24e1', time: ISO, values: {} }],
  },
  {
    shape: 'LwM2M',
    source: 'eclipse-leshan/leshan: leshan-demo-server, EventServlet',
    message: {
      topic: 'lwm2m/notification',
      payload: {
        ...{ ep: 'urn:imei:1', kind: 'composite', res: '/3303/0/5700' },
        val: { kind: 'singleResource', id: 5700, type: 'FLOAT', value: '21.3' },
      },
    },
    readings: [{ key: 'urn:imei:1', values: { '/3303/0/5700': '21.3' } }],
  },
  {
    shape: 'MTConnect',
    source: 'TrakHound/MTConnect.NET: libraries/MTConnect.NET-JSON-cppagent/Examples',
    message: {
      topic: 'MTConnect/Current/5fd88408',
      payload: {
        MTConnectStreams: {
          jsonVersion: 2,
          Header: { instanceId: 1702144894, creationTime: ISO },
          Streams: {
            DeviceStream: [
              {
                name: 'M12346',
                uuid: '5fd88408',
                ComponentStream: [
                  {
                    component: 'Device',
                    Events: {
                      Availability: [
                        { value: 'AVAILABLE', dataItemId: 'avail', timestamp: ISO, sequence: 1 },
                      ],
                    },
                  },
                  {
                    component: 'Linear',
                    Samples: {
                      Position: [
                        { value: 12.5, dataItemId: 'xact', name: 'Xact', timestamp: ISO, sequence: 11 },
                        { value: 12.6, dataItemId: 'xcom', timestamp: ISO, sequence: 12 },
                      ],
                      Load: [{ value: 7, dataItemId: 'xload', timestamp: ISO, sequence: 13 }],
                    },
                    Condition: { Normal: [{ dataItemId: 'c1', timestamp: ISO, type: 'LOAD' }] },
                  },
                ],
              },
            ],
          },
        },
      },
    },
    readings: [
      { key: 'M12346', time: ISO, values: { avail: 'AVAILABLE', xact: 12.5, xcom: 12.6, xload: 7 } },
    ],
  },
  {
    shape: 'wmbusmeters',
    source: 'wmbusmeters/wmbusmeters: src/driver_sharky.cc',
    message: {
      topic: 'wmbusmeters/Heat',
      payload: {
        ...{ media: 'heat', meter: 'sharky', name: 'Heat', id: '68926025' },
        ...{ total_energy_consumption_kwh: 2651, power_kw: 0, flow_temperature_c: 42.3 },
        timestamp: ISO,
      },
    },
    readings: [
      {
        key: '68926025',
        time: ISO,
        values: { total_energy_consumption_kwh: 2651, power_kw: 0, flow_temperature_c: 42.3 },
      },
    ],
  },
  {
    shape: 'Theengs',
    source: '1technophile/OpenMQTTGateway: docs/use/ble.md',
    message: {
      topic: 'home/OpenMQTTGateway/BTtoMQTT/58782076BC24',
      payload: { id: '58:78:20:76:BC:24', mac_type: 1, rssi: -79, uuid: '1de4b189', txpower: -66 },
    },
    readings: [{ key: '58782076BC24', values: { rssi: -79, txpower: -66 } }],
  },
  {
    shape: 'ESPresense',
    source: 'a test of a client, with what was logged',
    message: {
      topic: 'espresense/devices/iBeacon:426c7565/office',
      payload: { mac: 'dd8800003777', id: 'iBeacon:426c7565', rssi: -81.1, rssiVar: 7.42, distance: 6.58 },
    },
    readings: [
      {
        key: 'iBeacon:426c7565',
        values: { 'office.rssi': -81.1, 'office.rssiVar': 7.42, 'office.distance': 6.58 },
      },
    ],
  },
  {
    shape: 'ebusd',
    source: 'a test of a client of ebusd',
    message: {
      topic: 'ebusd/hmu/Status07',
      payload: { heatermain_b7_warmwater: { value: 'off' }, power: { value: 0 } },
    },
    readings: [{ key: 'hmu', values: { 'Status07.heatermain_b7_warmwater': 'off', 'Status07.power': 0 } }],
  },
  {
    shape: 'Teltonika',
    source: 'clients of its MQTT',
    message: {
      topic: '352093081452251/data',
      payload: { state: { reported: { '21': 5, '66': 12_000, ts: T, latlng: '54.7,25.2' } } },
    },
    readings: [{ key: '352093081452251', time: T, values: { '21': 5, '66': 12_000, latlng: '54.7,25.2' } }],
  },
  {
    shape: 'Sigfox',
    source: 'OS2iot/OS2iot-backend: src/entities/dto/sigfox/sigfox-callback.dto.ts',
    message: {
      payload: {
        ...{ time: T / 1000, deviceTypeId: '5', deviceId: '1D3A', data: '2d000102', seqNumber: 12 },
        ...{ ack: false, temperature: 21.5 },
      },
    },
    readings: [{ key: '1D3A', time: T, values: { temperature: 21.5 } }],
  },
  {
    shape: 'Helium',
    source: 'a decoded uplink of a test device',
    message: {
      payload: {
        ...{ dev_eui: '6081F945664E1866', fcnt: 3, name: 'x', reported_at: T },
        decoded: { payload: { temperature: 23 }, status: 'success' },
      },
    },
    readings: [{ key: '6081F945664E1866', time: T, values: { temperature: 23 } }],
  },
  {
    shape: 'Helium',
    source: 'a decoded uplink of a test device (Cayenne LPP)',
    message: {
      payload: {
        ...{ app_eui: '6081F92A22F6421C', dev_eui: '6081F945664E1866', fcnt: 3, reported_at: T },
        decoded: {
          payload: [
            { channel: 0, name: 'temperature', type: 103, unit: 'celcius', value: 23 },
            { channel: 1, name: 'humidity', type: 115, unit: 'hPa', value: 991 },
            { channel: 2, name: 'humidity', type: 104, unit: 'percent', value: 31 },
            { channel: 3, last: true, name: 'altitude', type: 121, unit: 'm', value: 180 },
          ],
          status: 'success',
        },
      },
    },
    readings: [
      {
        key: '6081F945664E1866',
        time: T,
        values: { temperature: 23, humidity: 991, 'humidity.percent': 31, altitude: 180 },
      },
    ],
  },
  {
    shape: 'Azure IoT',
    source: 'MicrosoftDocs/azure-docs: articles/iot-hub/iot-hub-event-grid.md (DeviceTelemetry)',
    message: {
      payload: [
        {
          id: '9af86784-8d40-fe2g-8b2a-bab65e106785',
          subject: 'devices/LogicAppTestDevice',
          eventType: 'Microsoft.Devices.DeviceTelemetry',
          eventTime: ISO,
          data: {
            body: { Weather: { Temperature: 900 }, Location: 'USA' },
            properties: { Status: 'Active' },
            systemProperties: { 'iothub-connection-device-id': 'd1' },
          },
          dataVersion: '',
        },
      ],
    },
    readings: [{ key: 'd1', time: ISO, values: { 'Weather.Temperature': 900, Location: 'USA' } }],
  },
  {
    shape: 'Watson IoT',
    source: 'ibm-watson-iot/iot-nodejs: topics',
    message: {
      topic: 'iot-2/type/RaspberryPi/id/erpi01/evt/temperature/fmt/json',
      payload: { d: { temp: 45.5 }, ts: ISO },
    },
    readings: [{ key: 'erpi01', time: ISO, values: { temp: 45.5 } }],
  },
  {
    shape: 'AhoyDTU',
    source: 'lumapu/ahoy: manual/User_Manual.md',
    message: { topic: 'inverter/HM-600/ch0/P_AC', payload: '150.0' },
    readings: [{ key: 'HM-600', values: { 'ch0/P_AC': '150.0' } }],
  },
  {
    shape: 'SolarAssistant',
    source: 'topics in scripts of others',
    message: { topic: 'solar_assistant/inverter_1/pv_power_1/state', payload: '1234' },
    readings: [{ key: 'inverter_1', values: { pv_power_1: '1234' } }],
  },
  {
    shape: 'SolaX',
    source: 'a test of a client of SolaX Cloud',
    message: {
      payload: {
        success: true,
        exception: 'Query success!',
        result: {
          ...{ inverterSN: 'XM0000000000', sn: 'S123456789', acpower: 163, yieldtoday: 3.5 },
          ...{ inverterType: '4', uploadTime: '2022-09-19 17:42:20', powerdc3: null },
        },
      },
    },
    readings: [{ key: 'XM0000000000', values: { acpower: 163, yieldtoday: 3.5, powerdc3: null } }],
  },
  {
    shape: 'CloudWatch',
    source: 'boto/botocore: cloudwatch/2010-08-01/service-2.json (GetMetricDataOutput)',
    message: {
      payload: {
        MetricDataResults: [
          { Id: 'errors', Label: 'Errors', Timestamps: [ISO], Values: [2], StatusCode: 'Complete' },
          { Id: 'throttles', Timestamps: [], Values: [], StatusCode: 'Complete' },
          { Id: 'invocations', Timestamps: [ISO], Values: [10], StatusCode: 'Complete' },
        ],
      },
    },
    readings: [{ time: ISO, values: { Errors: 2, invocations: 10 } }],
  },
  {
    shape: 'ENTSO-E',
    source: 'a day of prices of ENTSO-E, through the node xml',
    message: {
      payload: {
        Publication_MarketDocument: {
          $: { xmlns: 'urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:3' },
          TimeSeries: [
            {
              curveType: ['A03'],
              Period: [
                {
                  timeInterval: [{ start: ['2024-10-05T22:00Z'], end: ['2024-10-06T22:00Z'] }],
                  resolution: ['PT60M'],
                  Point: [
                    { position: ['1'], 'price.amount': ['48.44'] },
                    { position: ['3'], 'price.amount': ['47.59'] },
                  ],
                },
              ],
            },
          ],
        },
      },
    },
    readings: [
      { time: Date.UTC(2024, 9, 5, 22), values: { 'price.amount': '48.44' } },
      { time: Date.UTC(2024, 9, 6, 0), values: { 'price.amount': '47.59' } },
    ],
  },
  {
    shape: 'Netatmo',
    source: 'a client of its API (getmeasure, optimize=true); the field Names has none',
    message: { payload: { body: [{ beg_time: 1347575400, step_time: 1800, value: [[18.3], [20.6]] }] } },
    readings: [
      { time: 1347575400000, values: {} },
      { time: 1347577200000, values: {} },
    ],
    notes: 1,
  },
  {
    shape: 'Prometheus',
    source: 'prometheus/docs: exposition_formats.md, with and without times',
    message: { payload: '# TYPE a gauge\na 1 1395066363000\nb 2\nc 3 1395066364000\n' },
    readings: [
      { time: 1395066363000, values: { a: 1 } },
      { values: { b: 2 } },
      { time: 1395066364000, values: { c: 3 } },
    ],
  },
  {
    shape: undefined,
    source: 'support.weather.com: an upload to Weather Underground, whose time is now',
    message: { payload: { dateutc: 'now', tempf: '70' } },
    readings: [{ time: undefined, values: { tempf: '70' } }],
  },
  {
    shape: 'Zigbee2MQTT',
    source: 'Koenkk/zigbee2mqtt.io: docs/guide/usage/mqtt_topics_and_messages.md',
    message: {
      topic: 'zigbee2mqtt/kitchen/floor_light',
      payload: { temperature: 27.34, humidity: 44.72, update: { state: 'idle' } },
    },
    readings: [{ key: 'kitchen/floor_light', values: { temperature: 27.34, humidity: 44.72 } }],
  },
  {
    shape: 'Zigbee2MQTT',
    source: 'Koenkk/zigbee2mqtt.io: availability',
    message: { topic: 'zigbee2mqtt/my_bulb/availability', payload: { state: 'online' } },
    readings: [{ key: 'my_bulb', values: { availability: 'online' } }],
  },
  {
    shape: 'Zigbee2MQTT',
    source: 'Koenkk/zigbee2mqtt.io: bridge/devices, no readings',
    message: {
      topic: 'zigbee2mqtt/bridge/devices',
      payload: [{ ieee_address: '0x00158d00018255df', type: 'Router', friendly_name: 'my_plug' }],
    },
    readings: [],
  },
  {
    shape: 'Zigbee2MQTT',
    source: 'Koenkk/zigbee2mqtt.io: set, no readings',
    message: { topic: 'zigbee2mqtt/my_bulb/set', payload: { state: 'ON', brightness: 255 } },
    readings: [],
  },
  {
    shape: 'Tasmota',
    source: 'tasmota/docs: docs/MQTT.md (RESULT)',
    message: { topic: 'stat/tasmota_switch/RESULT', payload: { POWER: 'OFF' } },
    readings: [{ key: 'tasmota_switch', values: { POWER: 'OFF' } }],
  },
  {
    shape: 'Tasmota',
    source: 'tasmota/docs: INFO1, no readings',
    message: {
      topic: 'tele/tasmota_switch/INFO1',
      payload: { Info1: { Module: 'Sonoff Basic', Version: '13.1.0(tasmota)' } },
    },
    readings: [],
  },
  {
    shape: 'Shelly',
    source: 'Shelly Gen2 API: status of the system over MQTT, no readings',
    message: {
      topic: 'shellyplus1pm-a8032abe54dc/status/sys',
      payload: { mac: 'A8032ABE54DC', restart_required: false, time: '16:06', uptime: 11081 },
    },
    readings: [],
  },
  {
    shape: 'Shelly',
    source: 'Shelly Gen1 API: input_event of a button',
    message: { topic: 'shellies/shellybutton1-1/input_event/0', payload: { event: 'S', event_cnt: 2 } },
    readings: [
      { key: 'shellybutton1-1', values: { 'input_event/0.event': 'S', 'input_event/0.event_cnt': 2 } },
    ],
  },
  {
    shape: 'Tasmota',
    source: 'tasmota/docs: docs/Bluetooth.md',
    message: {
      topic: 'stat/tasmota/STATUS8',
      payload: {
        StatusSNS: {
          Time: '2019-12-18T10:13:38',
          'Flora-6ab577': { Temperature: 21.7, Illuminance: 21, Humidity: 0, Fertility: 0 },
          TempUnit: 'C',
        },
      },
    },
    readings: [
      {
        key: 'tasmota',
        time: '2019-12-18T10:13:38',
        values: {
          'Flora-6ab577.Temperature': 21.7,
          'Flora-6ab577.Illuminance': 21,
          'Flora-6ab577.Humidity': 0,
          'Flora-6ab577.Fertility': 0,
        },
      },
    ],
  },
  {
    shape: 'Tasmota',
    source: 'tasmota/docs: docs/DeepSleep.md, docs/MQTT.md (FullTopic)',
    message: {
      topic: 'tasmota/bedroom/tasmota/tele/SENSOR',
      payload: { Time: '2019-09-04T13:08:48', Epoch: 1567595328, ANALOG: { A0: 8 } },
    },
    readings: [{ key: 'tasmota/bedroom/tasmota', time: '2019-09-04T13:08:48', values: { 'ANALOG.A0': 8 } }],
  },
  {
    shape: 'Tasmota',
    source: 'arendst/Tasmota#1621',
    message: {
      topic: 'home/tele/tasmota/SonoffPOW/SENSOR',
      payload: {
        Time: '2018-01-17T18:59:50',
        ENERGY: { Total: 1.956, Power: 9, Voltage: 231, Current: 0.089 },
      },
    },
    readings: [
      {
        key: 'tasmota/SonoffPOW',
        time: '2018-01-17T18:59:50',
        values: {
          'ENERGY.Total': 1.956,
          'ENERGY.Power': 9,
          'ENERGY.Voltage': 231,
          'ENERGY.Current': 0.089,
        },
      },
    ],
  },
  {
    shape: 'Tasmota',
    source: 'tasmota/docs: docs/LoRa-and-LoRaWan-Bridge.md',
    message: {
      topic: 'tele/core2/SENSOR',
      payload: {
        LwReceived: {
          '0x4AD6': { Node: 1, Device: '0x4AD6', RSSI: -50, SNR: 12, DoorOpen: 1, Alarm: 0, Battery: 3 },
        },
      },
    },
    readings: [{ key: '0x4AD6', values: { RSSI: -50, SNR: 12, DoorOpen: 1, Alarm: 0, Battery: 3 } }],
  },
  {
    shape: 'Victron',
    source: 'victronenergy/dbus-flashmq: README.md',
    message: { topic: 'N/b827eb/pvinverter/20/Ac/Power', payload: { value: 936 } },
    readings: [{ key: 'b827eb', values: { 'pvinverter/20/Ac/Power': 936 } }],
  },
  {
    shape: 'Victron',
    source: 'victronenergy/dbus-flashmq: README.md (a device that disappears)',
    message: { topic: 'N/b827eb/pvinverter/20/Ac/Power', payload: '' },
    readings: [{ key: 'b827eb', values: { 'pvinverter/20/Ac/Power': '' } }],
  },
  {
    shape: 'Victron',
    source: 'victronenergy/dbus-flashmq: README.md (keep-alive)',
    message: {
      topic: 'N/b827eb/full_publish_completed',
      payload: { 'full-publish-completed-echo': 'Ucq2YLVt6ZWdgUNf', value: 1718860914 },
    },
    readings: [],
  },
  {
    shape: 'Home Assistant history',
    source: 'home-assistant/core: tests/components/history/test_websocket_api.py',
    message: {
      payload: {
        'sensor.four': [
          { s: '21.5', a: {}, lu: 1667865600.25 },
          { s: '21.6', lu: 1667865660 },
        ],
        'sensor.one': [{ lu: 1667865600.25, s: 'on' }],
      },
    },
    readings: [
      { time: 1667865600250, values: { 'sensor.four': '21.5', 'sensor.one': 'on' } },
      { time: 1667865660000, values: { 'sensor.four': '21.6' } },
    ],
  },
  {
    shape: 'Home Assistant history',
    source: 'home-assistant/core: homeassistant/components/recorder/websocket_api.py',
    message: {
      payload: {
        'sensor.test': [
          { start: 1667865600000, end: 1667869200000, mean: 21.5, min: 21, max: 22, last_reset: null },
        ],
      },
    },
    readings: [
      {
        time: 1667865600000,
        values: { 'sensor.test.mean': 21.5, 'sensor.test.min': 21, 'sensor.test.max': 22 },
      },
    ],
  },
  {
    shape: 'ChirpStack',
    source: 'brocaar/chirpstack-docs: docs/application-server/integrations/events.md (up)',
    message: {
      topic: 'application/123/device/0202020202020202/event/up',
      payload: {
        applicationID: '123',
        applicationName: 'temperature-sensor',
        deviceName: 'garden-sensor',
        devEUI: 'AgICAgICAgI=',
        rxInfo: [{ gatewayID: 'AwMDAwMDAwM=', time: '2019-11-08T13:59:25.048445Z', rssi: -48, loRaSNR: 9 }],
        adr: true,
        fCnt: 10,
        data: '...',
        objectJSON: '{"temperatureSensor":25,"humiditySensor":32}',
        tags: { key: 'value' },
      },
    },
    readings: [
      {
        key: 'garden-sensor',
        time: '2019-11-08T13:59:25.048445Z',
        values: { temperatureSensor: 25, humiditySensor: 32 },
      },
    ],
  },
  {
    shape: 'ChirpStack',
    source: 'chirpstack/chirpstack-docs: src/chirpstack/integrations/events.md (status)',
    message: {
      payload: {
        deduplicationId: 'bf2a9746-1c8b-49be-a92e-f0b89c8534e4',
        time: '2022-07-18T09:35:06.927172638+00:00',
        deviceInfo: { applicationName: 'Test application', devEui: '0101010101010101' },
        margin: 10,
        batteryLevel: 88.3,
      },
    },
    readings: [
      {
        key: '0101010101010101',
        time: '2022-07-18T09:35:06.927172638+00:00',
        values: { margin: 10, batteryLevel: 88.3 },
      },
    ],
  },
  {
    shape: 'OPC UA',
    source: 'mikakaraila/node-red-contrib-opcua: opcua/102-opcuaclient.js (readmultiple, ALL)',
    message: {
      topic: 'readmultiple',
      items: [{ nodeId: 'ns=2;s=Line1/Temperature' }, { nodeId: 'ns=2;i=7' }],
      payload: [
        {
          value: { dataType: 11, arrayType: 0, value: 21.5 },
          statusCode: { _name: 'Good', _value: 0 },
          sourceTimestamp: '2026-01-01T10:00:00Z',
        },
        {
          value: { dataType: 11, arrayType: 0, value: 3 },
          statusCode: { _name: 'BadNotConnected', _value: 2156527616 },
          sourceTimestamp: '2026-01-01T10:00:00Z',
        },
      ],
    },
    readings: [{ time: '2026-01-01T10:00:00Z', values: { 'Line1/Temperature': 21.5, 'ns=2;i=7': null } }],
    notes: 1,
  },
  {
    shape: 'OPC UA',
    source: 'mikakaraila/node-red-contrib-opcua: opcua/102-opcuaclient.js (readhistory)',
    message: {
      topic: 'ns=2;s=Line1/Temperature',
      payload: {
        statusCode: { _name: 'Good', _value: 0 },
        historyData: {
          dataValues: [
            { value: { dataType: 11, value: 1 }, sourceTimestamp: '2026-01-01T10:00:00Z' },
            { value: { dataType: 11, value: 2 }, sourceTimestamp: '2026-01-01T10:01:00Z' },
          ],
        },
      },
    },
    readings: [
      { time: '2026-01-01T10:00:00Z', values: { 'Line1/Temperature': 1 } },
      { time: '2026-01-01T10:01:00Z', values: { 'Line1/Temperature': 2 } },
    ],
  },
  {
    shape: 'OPC UA',
    source:
      'BiancoRoyal/node-red-contrib-iiot-opcua: src/opcua-iiot-listener.ts, test/units/flows/result-filter-flows.js',
    message: {
      topic: 'TestTopic',
      payload: {
        addressSpaceItems: [{ name: '', nodeId: 'ns=1;s=PressureVesselDevice', datatypeName: '' }],
        nodeId: 'ns=1;s=PressureVesselDevice',
        nodetype: 'listen',
        injectType: 'subscribe',
        value: {
          value: { dataType: 'Double', arrayType: 'Scalar', value: 16.041979 },
          statusCode: { value: 0, description: 'No Error', name: 'Good' },
          sourceTimestamp: '2018-03-13T21:43:10.470Z',
          serverTimestamp: '2018-03-13T21:43:11.051Z',
        },
      },
    },
    readings: [{ time: '2018-03-13T21:43:10.470Z', values: { PressureVesselDevice: 16.041979 } }],
  },
  {
    shape: 'OPC UA PubSub',
    source: 'Azure/Industrial-IoT: docs/opc-publisher/messageformats.md (PubSub mode)',
    message: {
      payload: {
        body: {
          MessageId: '27',
          MessageType: 'ua-data',
          PublisherId: 'opc.tcp://opcplc:50000_70FB9F43',
          Messages: [
            {
              DataSetWriterId: 1,
              DataSetWriterName: '1000',
              MessageType: 'ua-deltaframe',
              Timestamp: '2022-03-18T12:55:21.3424136Z',
              Payload: {
                StepUp: { Value: 23305, SourceTimestamp: '2022-03-18T12:55:21.3313539Z' },
                BadFastUInt1: {
                  StatusCode: { Symbol: 'BadNoCommunication', Code: 2150694912 },
                  SourceTimestamp: '2022-03-18T12:55:20.8409353Z',
                },
              },
            },
          ],
        },
        enqueuedTime: 'Fri Mar 18 2022 13:55:21 GMT+0100 (Central European Standard Time)',
      },
    },
    readings: [
      { key: '1000', time: '2022-03-18T12:55:21.3424136Z', values: { StepUp: 23305, BadFastUInt1: null } },
    ],
    notes: 1,
  },
  {
    shape: 'OPC UA',
    source: 'Azure/Industrial-IoT: docs/opc-publisher/messageformats.md (samples mode, bulk)',
    message: {
      payload: {
        body: [
          {
            NodeId: 'nsu=http://microsoft.com/Opc/OpcPlc/;s=StepUp',
            EndpointUrl: 'opc.tcp://opcplc:50000/',
            Value: { Value: 30003, SourceTimestamp: '2022-03-18T13:06:31.1337676Z' },
          },
        ],
        enqueuedTime: 'Fri Mar 18 2022 14:06:31 GMT+0100 (Central European Standard Time)',
      },
    },
    readings: [{ time: '2022-03-18T13:06:31.1337676Z', values: { StepUp: 30003 } }],
  },
  {
    shape: 'Neuron',
    source: 'emqx/neuron-docs: en_US/configuration/north-apps/mqtt/api.md (tags)',
    message: {
      payload: {
        timestamp: 1647497389075,
        node: 'modbus',
        group: 'grp',
        tags: [
          { name: 'tag0', value: 123 },
          { name: 'tag1', error: 2014 },
        ],
      },
    },
    readings: [{ key: 'modbus', time: 1647497389075, values: { tag0: 123, tag1: null } }],
  },
  {
    shape: 'Kafka',
    source: 'emrebekar/node-red-contrib-kafkajs: js/kafka-consumer.js',
    message: {
      topic: 'pumps',
      partition: 0,
      payload: {
        magicByte: 2,
        attributes: 0,
        timestamp: '1690000000000',
        offset: '12',
        key: 'pump1',
        value: '{"temperature":21.5}',
        headers: {},
      },
    },
    readings: [{ key: 'pump1', time: 1690000000000, values: { temperature: 21.5 } }],
  },
  {
    shape: 'OCPP',
    source: 'argonne-vci/node-red-contrib-ocpp: ocpp/ocpp-server.js',
    message: {
      ocpp: { ocppVersion: '1.6j', chargeBoxIdentity: 'CB1', command: 'MeterValues' },
      payload: {
        command: 'MeterValues',
        data: {
          connectorId: 1,
          transactionId: 5,
          meterValue: [
            {
              timestamp: '2026-01-01T10:00:00Z',
              sampledValue: [{ value: '7200', measurand: 'Power.Active.Import', unit: 'W' }],
            },
          ],
        },
      },
    },
    readings: [{ key: 'CB1/1', time: '2026-01-01T10:00:00Z', values: { 'Power.Active.Import': '7200' } }],
  },
  {
    shape: 'Z-Wave JS',
    source: 'zwave-js/node-red-contrib-zwave-js: Event Manual.md (VALUE_UPDATED)',
    message: {
      payload: {
        event: 'VALUE_UPDATED',
        timestamp: 1769335200000,
        nodeId: 5,
        nodeName: 'Meter',
        nodeLocation: 'Hall',
        eventBody: {
          valueId: {
            commandClass: 50,
            commandClassName: 'Meter',
            endpoint: 0,
            property: 'value',
            propertyKey: 66049,
            propertyName: 'value',
            propertyKeyName: 'Electric_W_Consumed',
          },
          newValue: 120.5,
          prevValue: 119,
        },
      },
    },
    readings: [{ key: '5', time: 1769335200000, values: { 'Meter.0.value.Electric_W_Consumed': 120.5 } }],
  },
  {
    shape: 'EdgeX',
    source: 'edgexfoundry/edgex-docs: docs_src/getting-started/quick-start/index.md',
    message: {
      payload: {
        statusCode: 200,
        event: {
          deviceName: 'Random-Integer-Device',
          sourceName: 'Int16',
          origin: 1625605672073875500,
          readings: [
            {
              origin: 1625605672073875500,
              deviceName: 'Random-Integer-Device',
              resourceName: 'Int16',
              valueType: 'Int16',
              binaryValue: null,
              value: '-8146',
            },
          ],
        },
      },
    },
    readings: [{ key: 'Random-Integer-Device', time: 1625605672074, values: { Int16: '-8146' } }],
  },
  {
    shape: 'OpenDTU',
    source: 'tbnobody/OpenDTU-docs: docs/firmware/web_api.md (livedata/status?inv=)',
    message: {
      payload: {
        inverters: [
          {
            serial: '1161716xxxxx',
            name: 'Meine Solaranlage',
            order: 0,
            data_age: 30824,
            poll_enabled: true,
            reachable: false,
            AC: { '0': { Power: { v: 120.5, u: 'W', d: 1 }, PowerFactor: { v: 0, u: '', d: 3 } } },
            DC: { '0': { name: { u: '' }, Irradiation: { v: 0, u: '%', d: 3, max: 385 } } },
            events: 2,
          },
        ],
        total: { Power: { v: 120.5, u: 'W', d: 1 } },
      },
    },
    readings: [
      {
        key: '1161716xxxxx',
        values: { reachable: false, 'AC.0.Power': 120.5, 'AC.0.PowerFactor': 0, 'DC.0.Irradiation': 0 },
      },
    ],
  },
  {
    shape: undefined,
    source: 'tbnobody/OpenDTU-docs: docs/firmware/web_api.md (livedata/status): totals alone',
    message: { payload: { total: { Power: { v: 140.8, u: 'W', d: 1 } }, hints: { time_sync: false } } },
    readings: [{ values: { 'total.Power': 140.8, 'hints.time_sync': false } }],
  },
  {
    shape: 'OpenDTU',
    source: 'tbnobody/OpenDTU-docs: docs/firmware/mqtt_topics.md',
    message: { topic: 'solar/116180123456/0/power', payload: '123.4' },
    readings: [{ key: '116180123456', values: { '0/power': '123.4' } }],
  },
  {
    shape: 'Ruuvi',
    source:
      'ruuvi/docs: ruuvi-gateway-firmware/data-formats/mqtt-time-stamped-data-from-bluetooth-sensors.md',
    message: {
      topic: 'ruuvi/C8:25:2D:8E:9C:2C/F4:1F:0C:28:CB:D6',
      payload: {
        gw_mac: 'C8:25:2D:8E:9C:2C',
        rssi: -26,
        aoa: [],
        gwts: '1653668027',
        ts: '1653668027',
        data: '0201061BFF99040515AE4C6DC6D7000CFFF803F4ADB6AD697FF41F0C28CBD6',
        coords: '',
      },
    },
    readings: [{ key: 'F4:1F:0C:28:CB:D6', time: 1653668027000, values: { rssi: -26 } }],
  },
  {
    shape: 'Loki',
    source: 'grafana/loki: docs/sources/reference/loki-http-api.md (streams)',
    message: {
      payload: {
        status: 'success',
        data: {
          resultType: 'streams',
          result: [
            {
              stream: { filename: '/var/log/myproject.log', job: 'varlogs', level: 'info' },
              values: [['1569266497240578000', 'foo']],
            },
          ],
        },
      },
    },
    readings: [{ key: '/var/log/myproject.log/varlogs/info', time: 1569266497241, values: { line: 'foo' } }],
  },
  {
    shape: 'Prometheus',
    source: 'grafana/loki: docs/sources/reference/loki-http-api.md (matrix)',
    message: {
      payload: {
        status: 'success',
        data: {
          resultType: 'matrix',
          result: [{ metric: { level: 'info' }, values: [[1588889221, '137.95']] }],
        },
      },
    },
    readings: [{ key: 'info', time: 1588889221000, values: { value: '137.95' } }],
  },
  {
    shape: 'rtl_433',
    source: 'merbanan/rtl_433: docs/OPERATION.md',
    message: {
      topic: 'rtl_433/raspi/events',
      payload: {
        time: '2019-08-29 08:38:19',
        model: 'Nexus-TH',
        id: 42,
        channel: 2,
        battery_ok: 1,
        temperature_C: 20.5,
        humidity: 83,
      },
    },
    readings: [
      {
        key: 'Nexus-TH/2/42',
        time: '2019-08-29 08:38:19',
        values: { battery_ok: 1, temperature_C: 20.5, humidity: 83 },
      },
    ],
  },
  {
    shape: 'Homie',
    source: 'homieiot/convention: convention.md',
    message: { topic: 'homie/5/super-car/engine/temperature', payload: '21.5' },
    readings: [{ key: 'super-car', values: { 'engine/temperature': '21.5' } }],
  },
  {
    shape: 'Homie',
    source: 'homieiot/convention: convention.md ($state)',
    message: { topic: 'homie/5/super-car/$state', payload: 'init' },
    readings: [],
  },
  {
    shape: 'evcc',
    source: 'evcc-io/evcc: server/mqtt.go',
    message: { topic: 'evcc/loadpoints/1/chargePower', payload: '11000' },
    readings: [{ key: 'loadpoints/1', values: { chargePower: '11000' } }],
  },
  {
    shape: 'deCONZ',
    source: 'deconz-community/node-red-contrib-deconz: src/runtime/OutputMsgFormatter.js',
    message: {
      payload: { temperature: 2150, lastupdated: '2019-03-15T20:16:30.123' },
      payload_format: '__complete__',
      meta: {
        name: 'Bath',
        uniqueid: '00:0d:6f-01-0402',
        state: { temperature: 2150 },
        config: { on: true },
      },
    },
    readings: [{ key: '00:0d:6f-01-0402', values: { temperature: 2150 } }],
  },
  {
    shape: 'deCONZ',
    source: 'dresden-elektronik/deconz-rest-doc: docs/endpoints/websocket/index.md (a name)',
    message: {
      payload: { e: 'changed', id: '10', name: 'Pulse 2', r: 'sensors', t: 'event', uniqueid: '00:0d' },
    },
    readings: [],
  },
  {
    shape: 'FIWARE',
    source: 'telefonicaid/fiware-orion: doc/manuals/orion-api.md (normalized)',
    message: {
      payload: {
        subscriptionId: '12345',
        data: [
          {
            id: 'Room1',
            type: 'Room',
            temperature: { value: 23, type: 'Number', metadata: {} },
            humidity: { value: 70, type: 'percentage', metadata: {} },
          },
        ],
      },
    },
    readings: [{ key: 'Room1', values: { temperature: 23, humidity: 70 } }],
  },
  {
    shape: 'Open-Meteo',
    source: 'open-meteo/open-meteo-website: current weather',
    message: {
      payload: {
        latitude: 52.52,
        longitude: 13.419,
        utc_offset_seconds: 3600,
        current_units: { temperature_2m: '°C' },
        current: { time: '2026-01-01T10:00', interval: 900, temperature_2m: 2.4 },
      },
    },
    readings: [{ time: Date.UTC(2026, 0, 1, 9), values: { temperature_2m: 2.4 } }],
  },
  {
    shape: 'Graphite',
    source: 'graphite-project/graphite-web: docs/render_api.rst (rickshaw)',
    message: { payload: [{ target: 'entries', datapoints: [{ y: 0.5, x: 1468791890 }] }] },
    readings: [{ time: 1468791890000, values: { entries: 0.5 } }],
  },
  {
    shape: undefined,
    source: 'influxdata/docs-v2: content/influxdb/v1/guides/query_data.md',
    message: {
      payload: {
        results: [
          {
            statement_id: 0,
            series: [
              {
                name: 'cpu_load_short',
                tags: { region: 'us-west' },
                columns: ['time', 'value'],
                values: [
                  ['2015-01-29T21:55:43.702900257Z', 2],
                  ['2015-06-11T20:46:02Z', 0.64],
                ],
              },
            ],
          },
        ],
      },
    },
    readings: [
      { time: '2015-01-29T21:55:43.702900257Z', values: { region: 'us-west', value: 2 } },
      { time: '2015-06-11T20:46:02Z', values: { region: 'us-west', value: 0.64 } },
    ],
  },
  {
    shape: undefined,
    source: 'questdb/documentation: documentation/reference/api/rest.md (exec)',
    message: {
      payload: {
        query: 'SELECT timestamp, tempF FROM weather LIMIT 1;',
        columns: [
          { name: 'timestamp', type: 'TIMESTAMP' },
          { name: 'tempF', type: 'INT' },
        ],
        dataset: [['2010-01-01T00:00:00.000000Z', 34]],
        count: 1,
      },
    },
    readings: [{ time: '2010-01-01T00:00:00.000000Z', values: { tempF: 34 } }],
  },
  {
    shape: undefined,
    source: 'readings of a device in a list, with the device beside it',
    message: {
      payload: {
        device: 'pump1',
        total: 2,
        readings: [
          { ts: 1769335200000, temperature: 21.5 },
          { ts: 1769335260000, temperature: 21.6 },
        ],
      },
    },
    readings: [
      { time: 1769335200000, values: { device: 'pump1', temperature: 21.5 } },
      { time: 1769335260000, values: { device: 'pump1', temperature: 21.6 } },
    ],
  },
  {
    shape: undefined,
    source: 'a reading with a time of its own, and a list of others in it',
    message: {
      payload: { ts: 1769335200000, temperature: 21.5, history: [{ ts: 1769335260000, temperature: 3 }] },
    },
    readings: [{ time: 1769335200000, values: { temperature: 21.5 } }],
    notes: 1,
  },
  {
    shape: undefined,
    source: 'mrWheel/DSMRloggerAPI#28, with a time of P1 in winter',
    message: {
      topic: 'DSMR-API/power_delivered',
      payload: { timestamp: '210114120000W', power_delivered: [{ value: 1.674, unit: 'kW' }] },
    },
    readings: [{ time: Date.UTC(2021, 0, 14, 11), values: { power_delivered: 1.674 } }],
  },
  {
    shape: undefined,
    source: 'boto/botocore: dynamodb/2012-08-10/service-2.json (Scan, AttributeValue)',
    message: {
      payload: {
        Items: [
          {
            device: { S: 'pump1' },
            ts: { N: '1769335200000' },
            temperature: { N: '21.5' },
            on: { BOOL: true },
          },
        ],
        Count: 1,
        ScannedCount: 1,
      },
    },
    readings: [{ time: 1769335200000, values: { device: 'pump1', temperature: 21.5, on: true } }],
  },
  {
    shape: 'DynamoDB',
    source: 'boto/botocore: dynamodbstreams/2012-08-10/service-2.json (Record)',
    message: {
      payload: {
        Records: [
          {
            eventID: '1',
            eventName: 'INSERT',
            dynamodb: {
              ApproximateCreationDateTime: 1769335200,
              Keys: { device: { S: 'pump1' } },
              NewImage: { device: { S: 'pump1' }, temperature: { N: '21.5' } },
            },
          },
        ],
      },
    },
    readings: [{ time: 1769335200000, values: { device: 'pump1', temperature: 21.5 } }],
  },
  {
    shape: 'Zabbix',
    source: 'a test of the client pybix',
    message: {
      payload: {
        jsonrpc: '2.0',
        result: [{ itemid: '23296', clock: '1351090996', value: '0.0850', ns: '563157632' }],
        id: 1,
      },
    },
    readings: [{ time: 1351090996000, values: { '23296': '0.0850' } }],
  },
  {
    shape: 'collectd',
    source: 'a README of a client of collectd',
    message: {
      payload: [
        {
          values: [12.5, 3],
          dstypes: ['gauge', 'gauge'],
          dsnames: ['rx', 'tx'],
          time: 1515406948.326,
          interval: 10,
          host: 'localhost',
          plugin: 'interface',
          plugin_instance: 'eth0',
          type: 'if_octets',
          type_instance: '',
        },
      ],
    },
    readings: [
      {
        key: 'localhost',
        time: 1515406948326,
        values: { 'interface.eth0.if_octets.rx': 12.5, 'interface.eth0.if_octets.tx': 3 },
      },
    ],
  },
  {
    shape: 'PI',
    source: 'a client of the PI Web API (interpolated)',
    message: {
      payload: {
        Links: {},
        Items: [
          {
            Timestamp: '2017-12-11T06:00:00Z',
            Value: 65.34507,
            UnitsAbbreviation: '',
            Good: true,
            Questionable: false,
            Substituted: false,
          },
          { Timestamp: '2017-12-11T06:15:00Z', Value: { Name: 'No Data', Value: 248 }, Good: false },
        ],
        UnitsAbbreviation: '',
      },
    },
    readings: [
      { time: '2017-12-11T06:00:00Z', values: { Value: 65.34507 } },
      { time: '2017-12-11T06:15:00Z', values: { Value: null } },
    ],
    notes: 1,
  },
  {
    shape: 'prices',
    source: 'home-assistant/core: tests/components/nordpool/fixtures/indices_60.json',
    message: {
      payload: {
        deliveryDateCET: '2025-10-01',
        version: 3,
        updatedAt: '2025-09-30T12:08:22.6180024Z',
        multiIndexEntries: [
          {
            deliveryStart: '2025-09-30T22:00:00Z',
            deliveryEnd: '2025-09-30T23:00:00Z',
            entryPerArea: { SE3: 523.75 },
          },
        ],
      },
    },
    readings: [{ time: '2025-09-30T22:00:00Z', values: { SE3: 523.75 } }],
  },
  {
    shape: 'prices',
    source: 'ottopaulsen/node-red-contrib-power-saver: docs/nodes/ps-receive-price.md (Tibber)',
    message: {
      payload: {
        viewer: {
          homes: [
            {
              currentSubscription: {
                priceInfo: {
                  today: [{ total: 0.3145, startsAt: '2026-01-01T00:00:00.000+01:00' }],
                  tomorrow: [],
                },
              },
            },
          ],
        },
      },
    },
    readings: [{ time: '2026-01-01T00:00:00.000+01:00', values: { total: 0.3145 } }],
  },
  {
    shape: 'SiteWise',
    source: 'boto/botocore: iotsitewise/2019-12-02/service-2.json (GetAssetPropertyValueHistory)',
    message: {
      payload: {
        assetPropertyValueHistory: [
          {
            value: { doubleValue: 21.5 },
            timestamp: { timeInSeconds: 1575691200, offsetInNanos: 0 },
            quality: 'GOOD',
          },
        ],
      },
    },
    readings: [{ time: 1575691200000, values: { value: 21.5 } }],
  },
  {
    shape: 'Industrial Edge',
    source: 'industrial-edge/common-databus-payload-format: docs/payload-format/PayloadFormat.md',
    message: {
      payload: {
        seq: 1,
        vals: [
          { id: '101', val: false, ts: '2022-07-21T13:01:50.159Z', qc: 3 },
          { id: '102', val: 4, ts: '2022-07-21T13:01:50.159Z', qc: 0 },
        ],
      },
    },
    readings: [{ time: '2022-07-21T13:01:50.159Z', values: { '101': false, '102': null } }],
    notes: 1,
  },
  {
    shape: 'Solcast',
    source: 'BJReplay/ha-solcast-solar: README.md (detailedForecast)',
    message: {
      payload: [
        { period_start: '2025-04-06T08:00:00+10:00', pv_estimate10: 10, pv_estimate: 50, pv_estimate90: 90 },
      ],
    },
    readings: [
      {
        time: '2025-04-06T08:00:00+10:00',
        values: { pv_estimate10: 10, pv_estimate: 50, pv_estimate90: 90 },
      },
    ],
  },
  {
    shape: 'Shelly',
    source: 'home-assistant-libs/aioshelly: tests/rpc_device/fixtures/shellyblugatewaygen3/Shelly.GetStatus',
    message: {
      payload: {
        'blutrv:200': { id: 200, target_C: 19, current_C: 21, pos: 0, last_updated_ts: 1739225228 },
        sys: { mac: 'AABBCCDDEEFF', uptime: 16, unixtime: 1739225237 },
      },
    },
    readings: [
      {
        key: 'AABBCCDDEEFF',
        time: 1739225237000,
        values: { 'blutrv:200.target_C': 19, 'blutrv:200.current_C': 21, 'blutrv:200.pos': 0 },
      },
    ],
  },
  {
    shape: 'MindSphere',
    source: 'developer.siemens.com: api-mindconnect-async-sample',
    message: {
      payload: {
        timeseries: [
          {
            timestamp: '2020-08-01T00:15:10.100Z',
            values: [{ dataPointId: 'rotationPerMinute', value: '600', qualityCode: '0' }],
          },
        ],
      },
    },
    readings: [{ time: '2020-08-01T00:15:10.100Z', values: { rotationPerMinute: '600' } }],
  },
  {
    shape: 'SenML',
    source: 'RFC 8428, 5.1.3: several units under one name',
    message: {
      payload: [
        { bn: 'urn:dev:ow:10e2073a01080063', bt: 1.320067464e9, bu: '%RH', v: 20 },
        { u: 'lon', v: 24.30621 },
        { u: 'lat', v: 60.07965 },
        { t: 60, v: 20.3 },
      ],
    },
    readings: [
      {
        time: 1320067464000,
        values: {
          'urn:dev:ow:10e2073a01080063': 20,
          'urn:dev:ow:10e2073a01080063.lon': 24.30621,
          'urn:dev:ow:10e2073a01080063.lat': 60.07965,
        },
      },
      { time: 1320067524000, values: { 'urn:dev:ow:10e2073a01080063': 20.3 } },
    ],
  },
  {
    shape: 'SenML',
    source: 'RFC 8428, 4.2: a sum in place of a value',
    message: { payload: [{ bn: 'urn:dev:x:', bt: 1.3e9, n: 'energy', s: 120.5, u: 'J' }] },
    readings: [{ time: 1300000000000, values: { 'urn:dev:x:energy': 120.5 } }],
  },
  {
    shape: 'SenML',
    source: 'two values of one name and time',
    message: {
      payload: [
        { bn: 'urn:dev:x:', bt: 1.3e9, n: 'a', v: 1 },
        { n: 'a', v: 2 },
      ],
    },
    readings: [{ time: 1300000000000, values: { 'urn:dev:x:a': 2 } }],
    notes: 1,
  },
  {
    shape: 'OCPP',
    source: 'ocpp-go: types.go (Location)',
    message: {
      payload: {
        connectorId: 1,
        meterValue: [
          {
            timestamp: '2024-01-01T00:00:00Z',
            sampledValue: [
              { value: '21', measurand: 'Temperature', location: 'Body' },
              { value: '35', measurand: 'Temperature', location: 'Cable' },
            ],
          },
        ],
      },
    },
    readings: [
      { key: '1', time: '2024-01-01T00:00:00Z', values: { Temperature: '21', 'Temperature.Cable': '35' } },
    ],
  },
  {
    shape: undefined,
    source: 'Ecowitt: a time whose name says UTC',
    message: { payload: { stationtype: 'GW1000B', dateutc: '2020-04-28 16:29:40', tempf: '59.0' } },
    readings: [
      { time: Date.UTC(2020, 3, 28, 16, 29, 40), values: { stationtype: 'GW1000B', tempf: '59.0' } },
    ],
  },
  {
    shape: undefined,
    source: 'api.energidataservice.dk: HourUTC',
    message: {
      payload: { total: 1, dataset: 'x', records: [{ HourUTC: '2022-07-01T22:00:00', SpotPriceEUR: 2 }] },
    },
    readings: [{ time: Date.UTC(2022, 6, 1, 22), values: { SpotPriceEUR: 2 } }],
  },
  {
    shape: undefined,
    source: 'CSV files of Electricity Maps: a zone in brackets',
    message: {
      payload: { 'Datetime (UTC)': '2024/1/1 1:00', 'Zone Id': 'DK', 'Low Carbon Percentage': 85.36 },
    },
    readings: [
      { time: Date.UTC(2024, 0, 1, 1), values: { 'Zone Id': 'DK', 'Low Carbon Percentage': 85.36 } },
    ],
  },
  {
    shape: undefined,
    source:
      'AirQualityUCI.csv (archive.ics.uci.edu/dataset/360): date and time of day in columns of their own',
    message: { payload: { Date: '10/03/2004', Time: '18.00.00', 'CO(GT)': '2,6', T: 13.6 } },
    readings: [{ time: '10/03/2004 18:00:00', values: { 'CO(GT)': '2,6', T: 13.6 } }],
  },
  {
    shape: undefined,
    source: 'the API of HomeWizard: times in digits are no sensors',
    message: { payload: { active_power_w: -543, gas_timestamp: 210606140010, total_gas_m3: 2569.646 } },
    readings: [{ values: { active_power_w: -543, total_gas_m3: 2569.646 } }],
  },
  {
    shape: undefined,
    source: 'openweathermap.org/current: sunrise and sunset are no sensors',
    message: {
      payload: {
        ...{ main: { temp: 298.48 }, dt: 1661870592, name: 'Zocca' },
        sys: { country: 'IT', sunrise: 1661834187, sunset: 1661882248 },
      },
    },
    readings: [{ time: 1661870592000, values: { 'main.temp': 298.48, name: 'Zocca', 'sys.country': 'IT' } }],
  },
  {
    shape: undefined,
    source: 'mqtt-smarthome/mqtt-smarthome: Architecture.md (val, ts, lc)',
    message: {
      topic: 'hm/status/Weather/TEMPERATURE',
      payload: { val: 21.5, ts: 1469564658000, lc: 1469564650000 },
    },
    readings: [{ key: 'Weather', time: 1469564658000, values: { TEMPERATURE: 21.5 } }],
  },
  {
    shape: undefined,
    source: 'node-opcua: a Variant as JSON',
    message: { topic: 'Temp', payload: { dataType: 'Double', arrayType: 'Scalar', value: 21.5 } },
    readings: [{ values: { Temp: 21.5 } }],
  },
  {
    shape: undefined,
    source: 'OpenEMS/openems: the REST API, channels by their address',
    message: {
      payload: [
        { address: 'ess0/Soc', type: 'INTEGER', accessMode: 'RO', text: '', unit: '%', value: 50 },
        { address: 'ess0/ActivePower', type: 'INTEGER', accessMode: 'RO', text: '', unit: 'W', value: -200 },
      ],
    },
    readings: [{ values: { 'ess0/Soc': 50, 'ess0/ActivePower': -200 } }],
  },
  {
    shape: undefined,
    source: 'waterservices.usgs.gov: a value that is no single one is not lost without a word',
    message: {
      payload: {
        name: 'ns1',
        value: {
          timeSeries: [
            [1, 2],
            [3, 4],
          ],
        },
      },
    },
    readings: [{ values: { name: 'ns1' } }],
    notes: 1,
  },
  {
    shape: 'Prometheus',
    source: 'prometheus/docs: exposition_formats.md',
    message: {
      payload: [
        '# HELP http_requests_total The total number of HTTP requests.',
        '# TYPE http_requests_total counter',
        'http_requests_total{method="post",code="200"} 1027 1395066363000',
        'http_requests_total{method="post",code="400"}    3 1395066363000',
        '# TYPE latency histogram',
        'latency_bucket{le="0.05"} 24054 1395066363000',
        'latency_sum 53423 1395066363000',
      ].join('\n'),
    },
    readings: [
      {
        time: 1395066363000,
        values: {
          'http_requests_total{method="post",code="200"}': 1027,
          'http_requests_total{method="post",code="400"}': 3,
          latency_sum: 53423,
        },
      },
    ],
  },
  {
    shape: undefined,
    source: 'what the node xml makes of a document: each element in a list',
    message: {
      payload: {
        response: {
          temp: ['21.5'],
          sensor: [
            { $: { id: 'a' }, _: '12' },
            { $: { id: 'b' }, _: '13' },
          ],
        },
      },
    },
    readings: [{ values: { 'response.temp': '21.5', 'response.sensor.a': '12', 'response.sensor.b': '13' } }],
  },
  {
    shape: undefined,
    source: 'api.energy-charts.info (public_power)',
    message: {
      payload: {
        unix_seconds: [1676329200, 1676330100],
        production_types: [
          { name: 'Wind onshore', data: [1, 2] },
          { name: 'Solar', data: [3, null] },
        ],
        deprecated: false,
      },
    },
    readings: [
      { time: 1676329200000, values: { deprecated: false, 'Wind onshore': 1, Solar: 3 } },
      { time: 1676330100000, values: { deprecated: false, 'Wind onshore': 2, Solar: null } },
    ],
  },
  {
    shape: undefined,
    source: 'OpenEMS/openems: queryHistoricTimeseriesData',
    message: {
      payload: {
        result: {
          timestamps: ['2020-01-01T00:00:00Z', '2020-01-01T00:05:00Z'],
          data: { '_sum/EssSoc': [50, 51], '_sum/GridActivePower': [100, null] },
        },
      },
    },
    readings: [
      { time: '2020-01-01T00:00:00Z', values: { '_sum/EssSoc': 50, '_sum/GridActivePower': 100 } },
      { time: '2020-01-01T00:05:00Z', values: { '_sum/EssSoc': 51, '_sum/GridActivePower': null } },
    ],
  },
  {
    shape: undefined,
    source: 'vrm-api-docs.victronenergy.com: stats, a list of times and values for each',
    message: {
      payload: {
        records: {
          Pdc: [
            [1464692400000, 12.5],
            [1464693300000, 13],
          ],
          bs: [[1464692400000, 50]],
        },
      },
    },
    readings: [
      { time: 1464692400000, values: { Pdc: 12.5, bs: 50 } },
      { time: 1464693300000, values: { Pdc: 13 } },
    ],
  },
  {
    shape: undefined,
    source: 'docs.openenergymonitor.org/emoncms/api.html: data of a feed',
    message: {
      topic: 'house/power',
      payload: [
        [1469564658000, 21.5],
        [1469564668000, null],
      ],
    },
    readings: [
      { time: 1469564658000, values: { power: 21.5 } },
      { time: 1469564668000, values: { power: null } },
    ],
  },
  {
    shape: undefined,
    source: 'api.weather.gov: periods of a forecast begin at startTime',
    message: {
      payload: {
        properties: {
          units: 'us',
          periods: [
            { startTime: '2024-01-01T00:00:00-06:00', endTime: '2024-01-01T01:00:00-06:00', temperature: 30 },
            { startTime: '2024-01-01T01:00:00-06:00', endTime: '2024-01-01T02:00:00-06:00', temperature: 31 },
          ],
        },
      },
    },
    readings: [
      { time: '2024-01-01T00:00:00-06:00', values: { units: 'us', temperature: 30 } },
      { time: '2024-01-01T01:00:00-06:00', values: { units: 'us', temperature: 31 } },
    ],
  },
  {
    shape: undefined,
    source: 'developer.tibber.com: consumption, a list in a list of one home',
    message: {
      payload: {
        viewer: {
          homes: [
            {
              consumption: {
                nodes: [
                  { from: '2021-01-01T00:00:00+01:00', to: '2021-01-01T01:00:00+01:00', consumption: 2.1 },
                  { from: '2021-01-01T01:00:00+01:00', to: '2021-01-01T02:00:00+01:00', consumption: 2.2 },
                ],
              },
            },
          ],
        },
      },
    },
    readings: [
      { time: '2021-01-01T00:00:00+01:00', values: { consumption: 2.1 } },
      { time: '2021-01-01T01:00:00+01:00', values: { consumption: 2.2 } },
    ],
  },
  {
    shape: 'Tempest',
    source: 'apidocs.tempestwx.com/reference/tempest-udp-broadcast (obs_st)',
    message: {
      payload: {
        ...{ serial_number: 'ST-00000512', type: 'obs_st', hub_sn: 'HB-00013030' },
        obs: [
          [
            ...[
              1588948614, 0.18, 0.22, 0.27, 144, 6, 1017.57, 22.37, 50.26, 328, 0.03, 3, 0, 0, 0, 0, 2.41, 1,
            ],
          ],
        ],
        firmware_revision: 129,
      },
    },
    readings: [
      {
        key: 'ST-00000512',
        time: 1588948614000,
        values: {
          ...{ 'wind lull': 0.18, 'wind average': 0.22, 'wind gust': 0.27, 'wind direction': 144 },
          ...{ 'wind sample interval': 6, 'station pressure': 1017.57, 'air temperature': 22.37 },
          ...{ 'relative humidity': 50.26, illuminance: 328, UV: 0.03, 'solar radiation': 3, rain: 0 },
          ...{ 'precipitation type': 0, 'lightning distance': 0, 'lightning count': 0, battery: 2.41 },
          'report interval': 1,
        },
      },
    ],
  },
  {
    shape: 'Tempest',
    source: 'weatherflow.github.io/Tempest/api/udp/v119 (rapid_wind)',
    message: {
      payload: {
        ...{ serial_number: 'SK-00008453', type: 'rapid_wind', hub_sn: 'HB-00000001' },
        ob: [1493322445, 2.3, 128],
      },
    },
    readings: [
      { key: 'SK-00008453', time: 1493322445000, values: { 'wind speed': 2.3, 'wind direction': 128 } },
    ],
  },
  {
    shape: 'Tempest',
    source: 'weatherflow.github.io/Tempest/api/udp/v119 (obs_air)',
    message: {
      payload: {
        ...{ serial_number: 'AR-00004049', type: 'obs_air', hub_sn: 'HB-00000001', firmware_revision: 17 },
        obs: [[1493164835, 835, 10, 45, 0, 0, 3.46, 1]],
      },
    },
    readings: [
      {
        key: 'AR-00004049',
        time: 1493164835000,
        values: {
          ...{ 'station pressure': 835, 'air temperature': 10, 'relative humidity': 45 },
          ...{ 'lightning count': 0, 'lightning distance': 0, battery: 3.46, 'report interval': 1 },
        },
      },
    ],
  },
  {
    shape: 'WeatherLink',
    source: 'clients of the local API of a WeatherLink Live',
    message: {
      payload: {
        data: {
          ...{ did: '001D0A700002', ts: 1531754005 },
          conditions: [
            { lsid: 48308, data_structure_type: 1, txid: 1, temp: 62.7, hum: 41.1 },
            { lsid: 48306, data_structure_type: 3, bar_sea_level: 30.008 },
          ],
        },
        error: null,
      },
    },
    readings: [
      {
        key: '001D0A700002',
        time: 1531754005000,
        values: { '0.temp': 62.7, '0.hum': 41.1, '1.bar_sea_level': 30.008 },
      },
    ],
  },
  {
    shape: 'Sensor.Community',
    source: 'answers of its API: times in UTC that do not say so',
    message: {
      payload: [
        {
          ...{ timestamp: '2024-02-20 10:00:00', id: 1234, location: { latitude: '48' } },
          sensor: { id: 42, sensor_type: { name: 'SDS011' } },
          sensordatavalues: [
            { id: 1, value_type: 'P1', value: '8.40' },
            { id: 2, value_type: 'P2', value: '3.10' },
          ],
        },
      ],
    },
    readings: [{ key: '42', time: Date.UTC(2024, 1, 20, 10), values: { P1: '8.40', P2: '3.10' } }],
  },
  {
    shape: 'M-Bus',
    source: 'robertsLando/node-red-contrib-m-bus: README.md',
    message: {
      topic: 'mbDeviceUpdated',
      payload: {
        SlaveInformation: { Id: 11490378, Manufacturer: 'ACW', AccessNumber: 41 },
        DataRecord: [
          {
            ...{ id: 1, Function: 'Instantaneous value', StorageNumber: 0, Unit: 'Volume (m m^3)' },
            ...{ Value: 54321, Timestamp: '2018-02-24T22:17:01' },
          },
          {
            ...{ id: 3, Function: 'Instantaneous value', StorageNumber: 1, Unit: 'Volume (m m^3)' },
            ...{ Value: 0, Timestamp: '2018-02-24T22:17:01' },
          },
        ],
      },
    },
    readings: [
      {
        key: '11490378',
        time: '2018-02-24T22:17:01',
        values: { '1.Volume (m m^3)': 54321, '3.Volume (m m^3)': 0 },
      },
    ],
  },
  {
    shape: 'Homematic',
    source: 'rdmtc/node-red-contrib-ccu: nodes/ccu-connection.js',
    message: {
      ...{ topic: 'BidCos-RF/JEQ0/1/TEMPERATURE', payload: 21.5, iface: 'BidCos-RF' },
      ...{ device: 'JEQ0', deviceName: 'Weather', channel: 'JEQ0:1', channelIndex: 1 },
      ...{ datapoint: 'TEMPERATURE', ts: 1469564658000 },
    },
    readings: [{ key: 'Weather', time: 1469564658000, values: { '1.TEMPERATURE': 21.5 } }],
  },
  {
    shape: 'Viessmann',
    source: 'home-assistant/core: tests/components/vicare/fixtures (features of a device)',
    message: {
      payload: {
        data: [
          {
            deviceId: '0',
            feature: 'heating.sensors.temperature.outside',
            timestamp: '2024-01-01T00:00:00.000Z',
            properties: {
              value: { type: 'number', value: 21.5, unit: 'celsius' },
              status: { type: 'string', value: 'connected' },
            },
          },
          {
            deviceId: '0',
            feature: 'heating.dhw.sensors.temperature',
            timestamp: '2024-01-01T00:05:00.000Z',
            properties: { value: { type: 'number', value: 45, unit: 'celsius' } },
          },
        ],
      },
    },
    readings: [
      {
        key: '0',
        values: {
          'heating.sensors.temperature.outside.value': 21.5,
          'heating.sensors.temperature.outside.status': 'connected',
          'heating.dhw.sensors.temperature.value': 45,
        },
      },
    ],
  },
  {
    shape: 'ioBroker',
    source: 'ioBroker/ioBroker.history: README.md (getHistory)',
    message: {
      topic: 'adapter.0.temp',
      payload: [
        { ts: 1469564658000, val: 21.5, ack: true, q: 0, lc: 1469564658000 },
        { ts: 1469564668000, val: 21.7, ack: true, q: 0, lc: 1469564668000 },
      ],
    },
    readings: [
      { time: 1469564658000, values: { 'adapter.0.temp': 21.5 } },
      { time: 1469564668000, values: { 'adapter.0.temp': 21.7 } },
    ],
  },
  {
    shape: 'GeoJSON',
    source: 'api.weather.gov: an observation, whose id is its own',
    message: {
      payload: {
        id: 'https://api.weather.gov/stations/KLAX/observations/2024-07-02T10:00:00+00:00',
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [-118.4, 33.9] },
        properties: {
          station: 'https://api.weather.gov/stations/KLAX',
          timestamp: '2024-07-02T10:00:00+00:00',
          temperature: { unitCode: 'wmoUnit:degC', value: 17.2, qualityControl: 'V' },
        },
      },
    },
    readings: [
      {
        key: 'https://api.weather.gov/stations/KLAX',
        time: '2024-07-02T10:00:00+00:00',
        values: { station: 'https://api.weather.gov/stations/KLAX', temperature: 17.2 },
      },
    ],
  },
];
