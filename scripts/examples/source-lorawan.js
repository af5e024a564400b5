/*
 * Two simulated soil sensors, whose uplinks come by The Things Stack and by ChirpStack 4, as their MQTT integrations
 * publish them. "past" is ten days of them, every other message what they send now.
 */
const STEP = 30 * 60_000;

function soil(sensor, time) {
  const day = (2 * Math.PI * time) / 86_400_000 + sensor;
  return {
    soil_moisture: Number((30 + 4 * Math.sin(2 * day - 0.6) + 1.5 * Math.sin(day / 2.9)).toFixed(1)),
    soil_temperature: Number((14 + 4 * Math.sin(day)).toFixed(1)),
    battery: 3.6,
  };
}

function stack(time) {
  const received_at = new Date(time).toISOString();
  return {
    topic: 'v3/farm@ttn/devices/field-1/up',
    payload: {
      end_device_ids: {
        device_id: 'field-1',
        application_ids: { application_id: 'farm' },
        dev_eui: '0004A30B001C0530',
      },
      received_at,
      uplink_message: {
        f_port: 1,
        f_cnt: 4,
        frm_payload: 'AGk=',
        decoded_payload: soil(1, time),
        received_at,
      },
    },
  };
}

function chirpStack(time) {
  return {
    topic: 'application/1/device/0101010101010101/event/up',
    payload: {
      deduplicationId: '3ac7e3c4',
      time: new Date(time).toISOString(),
      deviceInfo: { applicationName: 'farm', deviceName: 'field 2', devEui: '0101010101010101' },
      fCnt: 4,
      fPort: 1,
      data: 'AGk=',
      object: soil(2, time),
      rxInfo: [{ gatewayId: '0016c001f153a14c', rssi: -48, snr: 9 }],
    },
  };
}

const now = Date.now();
const count = msg.topic === 'past' ? 720 : 1;
const times = Array.from({ length: count }, (_, i) => now - (count - 1 - i) * STEP);
return [times.flatMap((time) => [stack(time), chirpStack(time)])];
