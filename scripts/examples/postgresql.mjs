import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# PostgreSQL in and out

Rows are read from PostgreSQL. A model learns from those with a known outcome, the others are predicted, and the predictions are written back.

Needs the node \`node-red-contrib-postgrestor-next\` (Manage palette → Install) and a PostgreSQL database. Its address and user are in the configuration node **Database**; the password is in the environment variable \`PGPASSWORD\`.

1. *Make tables*: 400 deliveries, 300 of them with a known outcome.
2. *Train*: learns \`late\` from those.
3. *Score*: predicts the rest and writes them to \`delivery_forecast\`.

Scoring twice is harmless: each delivery has one forecast, and a newer one replaces it.`;

const TABLES = `CREATE TABLE IF NOT EXISTS delivery (
  id integer PRIMARY KEY,
  carrier text,
  distance_km double precision,
  parcels integer,
  ordered_at timestamptz,
  late text
);
CREATE TABLE IF NOT EXISTS delivery_forecast (
  delivery_id integer PRIMARY KEY REFERENCES delivery (id),
  late text NOT NULL,
  probability double precision NOT NULL,
  model text NOT NULL,
  scored_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO delivery
SELECT id, carrier, distance_km, parcels, '2026-01-01'::timestamptz + id * interval '37 minutes',
  CASE WHEN id > 300 THEN NULL
    WHEN distance_km > CASE carrier WHEN 'snail' THEN 250 ELSE 600 END THEN 'yes' ELSE 'no' END
FROM (
  SELECT id, (ARRAY['swift', 'snail', NULL])[1 + id % 3] AS carrier, (id * 7919) % 900 AS distance_km, 1 + id % 5 AS parcels
  FROM generate_series(1, 400) AS id
) AS made
ON CONFLICT DO NOTHING;`;

const COLUMNS = 'id, carrier, distance_km, parcels, ordered_at';

const KNOWN = `SELECT ${COLUMNS}, late
FROM delivery WHERE late IS NOT NULL ORDER BY id;`;

const OPEN = `SELECT ${COLUMNS}
FROM delivery WHERE late IS NULL ORDER BY id;`;

const WRITE = `INSERT INTO delivery_forecast (delivery_id, late, probability, model)
SELECT id, late, probability, $2 FROM json_to_recordset($1::json) AS made (id integer, late text, probability double precision)
ON CONFLICT (delivery_id) DO UPDATE
SET late = EXCLUDED.late, probability = EXCLUDED.probability, model = EXCLUDED.model, scored_at = now();`;

export function postgresql() {
  const flow = new Flow('PostgreSQL in and out', INFO);
  flow.needs('node-red-contrib-postgrestor-next');
  const database = flow.config('postgresDB', 'Database', {
    host: '127.0.0.1',
    hostFieldType: 'str',
    port: '5432',
    portFieldType: 'num',
    database: 'postgres',
    databaseFieldType: 'str',
    ssl: 'false',
    sslFieldType: 'bool',
    max: '2',
    maxFieldType: 'num',
    min: '0',
    minFieldType: 'num',
    idle: '1000',
    idleFieldType: 'num',
    connectionTimeout: '10000',
    connectionTimeoutFieldType: 'num',
    user: 'postgres',
    userFieldType: 'str',
    password: 'PGPASSWORD',
    passwordFieldType: 'env',
    throwErrors: true,
    throwErrorsFieldType: 'bool',
  });
  const query = (name, place, text) =>
    flow.node('postgrestor', name, place, {
      query: text,
      postgresDB: database,
      output: true,
      outputs: 1,
      throwErrors: true,
    });
  const button = (name, place) => flow.node('inject', name, place, { ...NODE_DEFAULTS.inject, props: [] });
  const rows = (name, place) =>
    flow.node('change', name, place, {
      rules: [{ t: 'set', p: 'payload', pt: 'msg', to: 'payload.rows', tot: 'msg' }],
    });

  flow.comment('Press the three buttons from top to bottom.', [0.3, 0]);
  const make = button('Make tables', [0, 1]);
  const tables = query('tables', [1, 1], TABLES);

  const train = button('Train', [0, 2.5]);
  const known = query('known outcomes', [1, 2.5], KNOWN);
  const table = rows('rows', [2, 2.5]);
  const fit = flow.node('tabular-fit', 'late?', [3, 2.5], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    target: 'late',
    ignore: 'id',
    types: '',
    task: 'auto',
    model: 'delivery late',
  });
  const card = flow.debug('model card', [4, 2.5], 'model');

  const score = button('Score', [0, 4]);
  const open = query('open deliveries', [1, 4], OPEN);
  const test = rows('new rows', [2, 4]);
  const predict = flow.node('tabular-predict', 'late?', [3, 4], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'delivery late',
    property: 'late',
  });
  const parameters = flow.code('as parameters', [4, 4], 'forecast-parameters.js');
  const write = query('write forecasts', [5, 4], WRITE);
  const written = flow.debug('written', [6, 4], 'payload.rowCount');

  flow.errors([0, 5.5]);

  flow.wire(make, tables);
  flow.wire(train, known, table, fit, card);
  flow.wire(score, open, test, predict, parameters, write, written);
  return flow;
}
