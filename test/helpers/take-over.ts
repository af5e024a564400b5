/* A fit of a machine, and once it runs hotter another one, whose model replaces that in charge of "heat". */
import path from 'node:path';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, ModelCards } from '../../dist/src/connection';
import { Harness } from '../service/harness';
import { heatReadings } from './heat-readings';

/** A service, model cards and their connection in a user folder, open while some work is done. */
export async function withUserFolder<Result>(
  folder: string,
  work: (open: { cards: ModelCards; connection: Connection }) => Promise<Result>,
): Promise<Result> {
  const service = await Harness.start({ dataDir: path.join(folder, 'service') });
  const { url, token } = service.service;
  const warnings: string[] = [];
  const cards = ModelCards.open({
    path: path.join(folder, 'models.json'),
    service: 'embedded',
    onWarning: (text) => warnings.push(text),
  });
  const connection = new Connection({
    service: new EmbeddedService({ open: () => Promise.resolve(new ServiceClient({ baseUrl: url, token })) }),
    cards,
  });
  try {
    const result = await work({ cards, connection });
    if (warnings.length > 0) {
      throw new Error(warnings.join('\n'));
    }
    return result;
  } finally {
    await connection.close();
    await cards.close();
    await service.stop(true);
  }
}

/** In an empty folder the first fit, and in one that has it the take over. */
export async function takeOver({
  cards,
  connection,
}: {
  cards: ModelCards;
  connection: Connection;
}): Promise<void> {
  const shifted = cards.get('heat') !== undefined;
  await connection.train({
    table: { value: shifted ? heatReadings(500, 300) : heatReadings(300) },
    ...{ target: 'heat', task: 'regression', model: 'heat', replace: 'better', options: { n_estimators: 1 } },
  });
  await cards.flush();
}
