import assert from 'node:assert/strict';
import fs from 'node:fs';

import { CASES } from './cases';
import { differences, type Purpose } from './compare';
import { type CaseResult, MESSAGES, runCases } from './messages';

/** What later releases did on purpose to messages, statuses and requests. */
const PURPOSE: Purpose = {
  added: [
    // How far a score can be trusted where it rests on few rows.
    'scores.events',
    'scores.loss_low',
    'scores.loss_high',
    'model.doubts',
  ],
  changed: [
    // Its scores rest on few rows, which is told.
    'fit numbers by the own service: status.fill: was "green", is "yellow"',
  ],
};

/**
 * Each node gives the messages, errors and statuses that an earlier release gave for the same settings and messages.
 * Recorded by record-messages.ts; the cases are in cases/.
 */
describe('messages in and out of every node', function () {
  this.timeout(180_000);
  const expected = JSON.parse(fs.readFileSync(MESSAGES, 'utf8')) as Record<string, CaseResult>;
  let found: Record<string, CaseResult>;

  before(async () => {
    found = await runCases({ expected });
  });

  it('are recorded for every case', () => {
    assert.deepEqual(
      Object.keys(expected),
      CASES.map(({ name }) => name),
    );
  });

  for (const [name, recorded] of Object.entries(expected)) {
    it(name, () => {
      assert.deepEqual(differences(name, recorded, found[name], PURPOSE), []);
    });
  }
});
