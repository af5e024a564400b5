import type { Shape } from '../types';
import { HOME_ASSISTANT, HOME_ASSISTANT_HISTORY } from './home-assistant';
import { KNX, SITEWISE, SITEWISE_NOTIFICATION, UMH } from './industry';
import { INFLUXDB_POINTS, INFLUXDB_ROWS, TELEGRAF } from './influxdb';
import { KAFKA } from './kafka';
import { CHIRPSTACK, CHIRPSTACK_3, THE_THINGS_STACK } from './lorawan';
import { OPC_UA, OPC_UA_PUBSUB, OPC_UA_VALUE } from './opc-ua';
import { OPEN_METEO, PRICES } from './plans';
import { SENML } from './senml';
import { SHELLY_GEN1, SHELLY_NOTIFICATION, SHELLY_STATUS } from './shelly';
import { SPARKPLUG } from './sparkplug';
import { TASMOTA } from './tasmota';
import { THINGSBOARD, THINGSBOARD_GATEWAY } from './thingsboard';
import { VICTRON } from './victron';

/** The shapes that messages are recognised by, in any order: where two of them could be meant, neither is taken. */
export const SHAPES: readonly Shape[] = [
  HOME_ASSISTANT,
  HOME_ASSISTANT_HISTORY,
  TASMOTA,
  SHELLY_GEN1,
  SHELLY_STATUS,
  SHELLY_NOTIFICATION,
  THE_THINGS_STACK,
  CHIRPSTACK,
  CHIRPSTACK_3,
  THINGSBOARD,
  THINGSBOARD_GATEWAY,
  OPC_UA,
  OPC_UA_VALUE,
  OPC_UA_PUBSUB,
  SPARKPLUG,
  INFLUXDB_ROWS,
  INFLUXDB_POINTS,
  TELEGRAF,
  KAFKA,
  SENML,
  UMH,
  KNX,
  SITEWISE,
  SITEWISE_NOTIFICATION,
  VICTRON,
  OPEN_METEO,
  PRICES,
];
