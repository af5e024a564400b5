import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Batch scoring of a file

*Make files* writes two CSV files, *Train* learns from the first, *Score* predicts every row of the second and writes the rows with their predictions to a third.

The nodes **fit** and **predict** read the files themselves (*Input: A file on disk*), so a train set may be larger than the memory. Parquet and Arrow files work too.

The files are in the folder named by the environment variable \`FOLDER\` of the flow (double-click the tab), relative to the folder in which Node-RED was started.`;

/** A CSV file through three buttons: made, learned from, scored into another file. */
export function batchFile() {
  const flow = new Flow('Batch scoring of a file', INFO, [
    { name: 'FOLDER', value: 'tabular-example', type: 'str' },
  ]);
  const button = (name, row) => flow.node('inject', name, [0, row], { ...NODE_DEFAULTS.inject, props: [] });
  const inFolder = (file) => `$env('FOLDER') & '/${file}'`;
  const write = (name, place, filename, filenameType) =>
    flow.node('file', name, place, {
      filename,
      filenameType,
      appendNewline: false,
      createDir: true,
      overwriteFile: 'true',
      encoding: 'utf8',
    });

  flow.comment('Press the three buttons from top to bottom.', [0.3, 0]);
  const make = button('Make files', 1);
  const csv = flow.code('two CSV texts', [1, 1], 'batch-files.js');
  const writeBoth = write('write', [2, 1], 'filename', 'msg');
  const made = flow.debug('file made', [3, 1], 'filename');

  const train = button('Train', 2.5);
  const fit = flow.node('tabular-fit', 'defect?', [1, 2.5], {
    config: EMBEDDED,
    source: 'file',
    table: inFolder('known.csv'),
    tableType: 'jsonata',
    target: 'defect',
    ignore: 'part',
    task: 'auto',
    model: 'defect',
  });
  const card = flow.debug('model card', [3, 2.5], 'model');

  const score = button('Score', 4);
  const predict = flow.node('tabular-predict', 'defect?', [1, 4], {
    config: EMBEDDED,
    source: 'file',
    table: inFolder('new.csv'),
    tableType: 'jsonata',
    model: 'defect',
    outputType: 'preds',
    property: 'defect',
  });
  const text = flow.node('csv', 'as CSV', [2, 4], {
    sep: ',',
    hdrin: '',
    hdrout: 'all',
    multi: 'one',
    ret: '\\n',
    temp: '',
    skip: '0',
    strings: true,
    include_empty_strings: '',
    include_null_values: '',
    spec: 'rfc',
  });
  const writeScored = write('scored.csv', [3, 4], inFolder('scored.csv'), 'jsonata');
  const written = flow.debug('scored file', [4, 4], 'payload');

  flow.errors([0, 5.5]);

  flow.wire(make, csv, writeBoth, made);
  flow.wire(train, fit, card);
  flow.wire(score, predict, text, writeScored, written);
  return flow;
}
