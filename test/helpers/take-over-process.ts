/*
 * A process that fits a machine which has begun to run hotter: the model in charge of "heat" is replaced. Started with a
 * user folder, and the number of the file change before which it kills itself (none: it ends by itself and tells how many
 * there were).
 */
import path from 'node:path';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, ModelCards } from '../../dist/src/connection';
import { Harness } from '../service/harness';
import { beforeChanges } from './before-changes';
import { heatReadings } from './heat-readings';

const [folder, killBefore] = process.argv.slice(2) as [string, string?];

async function run(): Promise<void> {
  const service = await Harness.start({ dataDir: path.join(folder, 'service') });
  const cards = ModelCards.open({ path: path.join(folder, 'models.json'), service: 'embedded' });
  const { url, token } = service.service;
  const connection = new Connection({
    service: new EmbeddedService({ open: () => Promise.resolve(new ServiceClient({ baseUrl: url, token })) }),
    cards,
  });
  let changes = 0;
  const restore = beforeChanges(folder, () => {
    changes++;
    if (changes === Number(killBefore)) {
      process.kill(process.pid, 'SIGKILL');
    }
  });
  const shifted = cards.get('heat') !== undefined;
  await connection.train({
    table: { value: shifted ? heatReadings(500, 300) : heatReadings(300) },
    ...{ target: 'heat', task: 'regression', model: 'heat', replace: 'better', options: { n_estimators: 1 } },
  });
  await cards.flush();
  restore();
  console.log(`changes: ${changes}`);
  await connection.close();
  await cards.close();
  await service.stop(true);
}

void run();
