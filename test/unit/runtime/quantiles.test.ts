import assert from 'node:assert/strict';

import { type PredictDef, predictRequests } from '../../doors/runtime';
import { OUTPUT_TYPES, takesQuantiles } from '../../doors/wire';
import { loadDialogs } from '../../helpers/dialogs';
import { fakeRuntime } from './fake';

const table = {
  place: 'msg.payload',
  read: () => Promise.resolve({ value: [{ x: 1 }] }),
  target: 'payload',
  write: () => undefined,
};

/** The quantiles that a predict node asks for. */
async function asked(def: Partial<PredictDef>, msg: object): Promise<readonly number[] | undefined> {
  const whole = { id: 'n', type: 'tabular-predict', name: '', ...def, model: 'm' } as PredictDef;
  const request = await predictRequests(fakeRuntime(whole), table)({ _msgid: '1', ...msg });
  return request.quantiles;
}

const EARLIER = '0.1,0.5,0.9';
const STANDARD = [0.1, 0.5, 0.9];
const byMessage = { output_type: 'quantiles', quantiles: [0.05, 0.95] };

describe('the quantiles of a predict', () => {
  const dragged = loadDialogs('en-US').dialogs.predict.defaults as Partial<PredictDef>;

  const cases: [string, Partial<PredictDef>, object, number[] | undefined][] = [
    ['of the message, for a node just dragged in', dragged, byMessage, [0.05, 0.95]],
    [
      'of the message, where Output alone is chosen',
      { ...dragged, outputType: 'quantiles' },
      byMessage,
      [0.05, 0.95],
    ],
    [
      'of the message, in a flow that holds the default of earlier versions',
      { outputType: '', quantiles: EARLIER },
      byMessage,
      [0.05, 0.95],
    ],
    [
      'of the dialog, where it chooses them as output',
      { outputType: 'quantiles', quantiles: EARLIER },
      byMessage,
      STANDARD,
    ],
    [
      'of the dialog, where the message names none',
      { outputType: '', quantiles: '0.2,0.8' },
      { output_type: 'quantiles' },
      [0.2, 0.8],
    ],
    ['0.1, 0.5 and 0.9, where nobody names any', dragged, { output_type: 'quantiles' }, STANDARD],
    ['none, where they are not the output', dragged, { quantiles: [0.05, 0.95] }, undefined],
  ];
  for (const [name, def, msg, expected] of cases) {
    it(`are those ${name}`, async () => assert.deepEqual(await asked(def, msg), expected));
  }

  it('are left to the message by a node just dragged in, whose dialog shows the field', () => {
    const { defaults, template } = loadDialogs('en-US').dialogs.predict;
    assert.deepEqual([defaults.outputType, defaults.quantiles], ['', '']);
    const shown = /data-tabular-when="outputType=([^"]*)"[^<]*>\s*<label for="node-input-quantiles"/.exec(
      template,
    )![1]!;
    const taking = OUTPUT_TYPES.regression.filter(takesQuantiles);
    assert.deepEqual(shown.split('|'), ['', ...taking]);
    assert.match(
      template,
      /id="node-input-quantiles"[^>]* placeholder="msg\.quantiles, else 0\.1,0\.5,0\.9"/,
    );
  });
});
