import type { Shape } from '../types';

/**
 * Samples and events of an MTConnect agent, as JSON (version 2), over HTTP or MQTT. Each tells when its value has changed;
 * the document tells of when they all are. Conditions are left out.
 * https://github.com/TrakHound/MTConnect.NET (JSON-cppagent: MTConnectStreams)
 */
export const MTCONNECT: Shape = {
  name: 'MTConnect',
  items: [
    'MTConnectStreams.Streams.DeviceStream[].ComponentStream[].Samples{}',
    'MTConnectStreams.Streams.DeviceStream[].ComponentStream[].Events{}',
  ],
  isEvery: true,
  has: { dataItemId: 'text', value: 'any', timestamp: 'time' },
  key: 'up.up.name|up.up.uuid',
  time: 'payload.MTConnectStreams.Header.creationTime',
  column: 'dataItemId',
  value: 'value',
};
