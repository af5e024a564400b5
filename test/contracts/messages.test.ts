import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { FlowNode } from '../helpers/node-red';
import { unpackFolder } from './archive';
import { ALIKE, CASES } from './cases';
import { differences, NAMED_ALARM, type Purpose } from './compare';
import { type CaseResult, EXAMPLES, type Found, MESSAGES, runCases } from './messages';

const ALARM = 'watch an alarm of a probability: outcome.messages.watch an alarm of a probability';

/** What later releases did on purpose to messages, statuses and requests. */
const PURPOSE: Purpose = {
  added: [
    // How far a score can be trusted where it rests on few rows.
    'scores.events',
    'scores.loss_low',
    'scores.loss_high',
    'model.doubts',
    // Which columns a doubt is about, and which versions are doubted.
    'model.doubted_columns',
    'versions.doubted',
    // What clients of a hosted service ask for by now.
    'max_model_limit.train_set_max_upload_cells',
    'model_limits.embedded.train_set_max_upload_cells',
  ],
  changed: [
    // A watch node shows an alarm that has not been cleared.
    'watch with every setting: status.fill: was "green", is "yellow"',
    // Its scores rest on few rows, which is told.
    'fit numbers by the own service: status.fill: was "green", is "yellow"',
    // The card, too, says that there is one class only.
    'fit of one label: outcome.messages.fit of one label>0[0].model.doubts: was …',
    // Their column "id" numbers the rows, which is told.
    ...['fit only if better', 'fit with nothing set', 'fit with every default written'].map(
      (name) => `${name}: status.fill: was "green", is "yellow"`,
    ),
    // A row with fewer fields than the header is read, as spreadsheets and R fill it up, with a warning.
    'predict a table with ragged CSV: outcome.messages.predict a table with ragged CSV>0: is new, …',
    'predict a table with ragged CSV: outcome.errors.predict a table with ragged CSV: was …',
    ...['fill: was "red", is "green"', 'shape: was "ring", is "dot"', 'text: was "table.invalid", is ""'].map(
      (change) => `predict a table with ragged CSV: status.${change}`,
    ),
    // An alarm says what it is of, a probability and its limit both in percent.
    NAMED_ALARM,
    ...['payload', 'change.text'].flatMap((place) => [
      `${ALARM}>1[0].${place}: was "a: The probability of \\"yes\\" has reached 0.800 (alarm at 0.6).", is "a: label = yes: 80 % (alarm at 60 %)."`,
      `${ALARM}>1[1].${place}: was "a: The alarm is over: the probability of \\"yes\\" is back at 0.100.", is "a: The alarm is over. label = yes: 10 %."`,
    ]),
  ],
};

/** Nodes of other packages, and those that would look for a broker or a database. */
const OTHERS = /^(?:ui-|mqtt|postgres|global-config)/;

/**
 * Each node gives the messages, errors and statuses that an earlier release gave for the same settings and messages.
 * Recorded by record-messages.ts; the cases are in cases/.
 */
describe('messages in and out of every node', function () {
  this.timeout(180_000);
  const expected = JSON.parse(fs.readFileSync(MESSAGES, 'utf8')) as Record<string, CaseResult>;
  const flows = exampleFlows();
  let found: Record<string, CaseResult>;
  let deployed: Found['deployed'];

  before(async () => {
    ({ results: found, deployed } = await runCases({ expected, flows: flows.flat() }));
  });

  it('are recorded for every case', () => {
    assert.deepEqual(
      Object.keys(expected),
      CASES.map(({ name }) => name),
    );
  });

  for (const [nothing, defaults] of ALIKE) {
    it(`are the same for a ${nothing} and with its defaults written`, () => {
      const plain = (name: string): unknown => JSON.parse(JSON.stringify(found[name]).replaceAll(name, 'it'));
      assert.deepEqual(plain(nothing), plain(defaults));
    });
  }

  for (const [name, recorded] of Object.entries(expected)) {
    it(name, () => {
      assert.deepEqual(differences(name, wordless(recorded), wordless(found[name]), PURPOSE), []);
    });
  }

  it('are not all: the examples of that release are deployed without an error', () => {
    const own = flows.flat().filter(({ type }) => type.startsWith('tabular-'));
    assert.ok(own.length > 40);
    assert.deepEqual(
      own.map(({ id }) => id).filter((id) => !deployed.nodes.includes(id)),
      [],
    );
    assert.doesNotMatch(deployed.logged, /\[error\]|\[warn\] \[tabular-/);
  });
});

/** Without the words of its status; an error's code is none. */
function wordless(result: CaseResult | undefined): unknown {
  const status = result?.status;
  return !status || status.fill === 'red' ? result : { ...result, status: { ...status, text: '' } };
}

/** The flows of the examples, with nothing in them that begins by itself. */
function exampleFlows(): FlowNode[][] {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-examples-'));
  unpackFolder(fs.readFileSync(EXAMPLES), folder);
  const flows = fs
    .readdirSync(folder)
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as FlowNode[]);
  fs.rmSync(folder, { recursive: true });
  return flows.map((flow) =>
    flow
      .filter(({ type }) => !OTHERS.test(type))
      .map((node) => (node.type === 'inject' ? { ...node, once: false, repeat: '' } : node)),
  );
}
