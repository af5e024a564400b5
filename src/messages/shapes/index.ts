import type { Shape } from '../types';
import { AWS_SHADOW, AZURE_IOT, LOSANT, PARTICLE, PARTICLE_VALUE } from './clouds';
import {
  ESPHOME,
  HOME_ASSISTANT,
  HOME_ASSISTANT_HISTORY,
  HOME_ASSISTANT_STATESTREAM,
} from './home-assistant';
import { EDGEX, KEPWARE, KNX, NEURON, SITEWISE, SITEWISE_NOTIFICATION, UMH } from './industry';
import { INFLUXDB_POINTS, INFLUXDB_ROWS, TELEGRAF } from './influxdb';
import { KAFKA } from './kafka';
import { CHIRPSTACK, CHIRPSTACK_3, LORIOT, THE_THINGS_STACK, THINGPARK } from './lorawan';
import { OPC_UA, OPC_UA_PUBSUB, OPC_UA_VALUE } from './opc-ua';
import {
  ENERGY_CHARTS,
  FORECAST_SOLAR,
  MET_NORWAY,
  OPEN_METEO,
  OPEN_WEATHER_MAP,
  PRICES,
  SOLCAST,
} from './plans';
import { DECONZ, RTL_433 } from './radio';
import { SENML } from './senml';
import { SHELLY_GEN1, SHELLY_NOTIFICATION, SHELLY_STATUS } from './shelly';
import { SPARKPLUG, SPARKPLUG_JSON } from './sparkplug';
import { TASMOTA } from './tasmota';
import { THINGSBOARD, THINGSBOARD_GATEWAY } from './thingsboard';
import { VICTRON } from './victron';

/** The shapes that messages are recognised by, in any order: where two of them could be meant, neither is taken. */
export const SHAPES: readonly Shape[] = [
  HOME_ASSISTANT,
  HOME_ASSISTANT_HISTORY,
  HOME_ASSISTANT_STATESTREAM,
  ESPHOME,
  TASMOTA,
  SHELLY_GEN1,
  SHELLY_STATUS,
  SHELLY_NOTIFICATION,
  THE_THINGS_STACK,
  CHIRPSTACK,
  CHIRPSTACK_3,
  THINGPARK,
  LORIOT,
  THINGSBOARD,
  THINGSBOARD_GATEWAY,
  OPC_UA,
  OPC_UA_VALUE,
  OPC_UA_PUBSUB,
  SPARKPLUG,
  SPARKPLUG_JSON,
  INFLUXDB_ROWS,
  INFLUXDB_POINTS,
  TELEGRAF,
  KAFKA,
  SENML,
  UMH,
  KEPWARE,
  NEURON,
  EDGEX,
  KNX,
  SITEWISE,
  SITEWISE_NOTIFICATION,
  VICTRON,
  AWS_SHADOW,
  AZURE_IOT,
  PARTICLE,
  PARTICLE_VALUE,
  LOSANT,
  RTL_433,
  DECONZ,
  OPEN_METEO,
  PRICES,
  ENERGY_CHARTS,
  FORECAST_SOLAR,
  SOLCAST,
  OPEN_WEATHER_MAP,
  MET_NORWAY,
];
