import type { Shape } from '../types';

/** A resource that a device of LwM2M has sent, as Leshan tells its listeners of it: `/3303/0/5700` is its column. https://github.com/eclipse-leshan/leshan (leshan-demo-server: EventServlet) */
export const LESHAN: Shape = {
  name: 'LwM2M',
  has: { ep: 'text', res: 'text', val: 'any' },
  key: 'ep',
  time: 'timestamp|time',
  column: 'res',
  value: 'val.value|val',
};
