/*
 * A motor with a reading each second, as someone simulates one for the first hour of a node: current, temperature, vibration
 * and speed, which follow a load that nobody tells. How the load changes is what a node that knows minutes cannot know.
 */
import { seededRandom } from '../doors/util';
import { normal } from './simulated-machine';

export const SECOND = 1000;
export const MOTOR_BEGINS = Date.UTC(2026, 2, 2, 9);

/** How the load changes. */
export const LOADS = [
  'constant',
  'wanders within minutes',
  'steps each 1 to 3 minutes',
  'swings in 10 minutes',
  'swings in an hour',
  'is high now and then',
] as const;
export type Load = (typeof LOADS)[number];

/** Its readings, one a second. */
export function simulatedMotor(load: Load, seed: number, count: number): Record<string, number>[] {
  const random = seededRandom(seed);
  const noise = (): number => normal(random);
  const loadAt = loadOf(load, random);
  let temperature = 45;
  return Array.from({ length: count }, (_, i) => {
    const now = loadAt(i);
    temperature += (20 + 60 * now - temperature) / 120;
    return {
      current: 2 + 16 * now + 0.2 * noise(),
      temperature: temperature + 0.3 * noise(),
      vibration: 1 + 2 * now + 0.1 * noise(),
      speed: 1480 - 40 * now + 2 * noise(),
    };
  });
}

function loadOf(load: Load, random: () => number): (second: number) => number {
  const keep = Math.exp(-1 / 300);
  let [now, slow, left] = [0.5, 0, 0];
  const changes = (next: () => number, least: number, more: number): number => {
    left--;
    if (left < 0) {
      now = next();
      left = least + more * random();
    }
    return now;
  };
  switch (load) {
    case 'constant':
      return () => 0.5;
    case 'wanders within minutes':
      return () => {
        slow = keep * slow + Math.sqrt(1 - keep * keep) * normal(random);
        return 0.5 + 0.1 * slow;
      };
    case 'steps each 1 to 3 minutes':
      return () => changes(() => 0.3 + 0.6 * random(), 60, 120);
    case 'swings in 10 minutes':
      return (second) => 0.5 + 0.2 * Math.sin((second / 600) * 2 * Math.PI);
    case 'swings in an hour':
      return (second) => 0.5 + 0.2 * Math.sin((second / 3600) * 2 * Math.PI);
    case 'is high now and then':
      return () => changes(() => (now < 0.6 && random() < 0.5 ? 0.8 : 0.4), 120, 600);
  }
}
