import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { removedAtEnd } from '../helpers/temporary';
import { unpackFolder } from './archive';
import { type Called, ContractNodeRed, type Json, type Outcome } from './contract-node-red';
import { type PlayedModel, PlayedService } from './played-service';
import { ASKED, FLOW } from './user-folder-flow';

export const ARCHIVE = path.join(__dirname, 'fixtures', 'user-folder.br');
export const ANSWERS = path.join(__dirname, 'fixtures', 'user-folder.json');
/** In the archive: a model that was exported. */
export const MODEL_FILE = 'exported.zip';

/** What a release told of the folder. */
export interface Answers {
  /** The models that the played service knows. */
  service: Record<string, PlayedModel>;
  /** Statuses after the start. */
  started: Record<string, Json | null>;
  steps: Answered[];
}

export type Answered =
  { to: string; given: Json; status: Json | null; outcome: Outcome } | { call: string; answer: Called };

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Without what differs from run to run: ids that are not in the folder, ids of messages, files of today. */
function settled<T>(value: T, known: ReadonlySet<string>): T {
  const replaced = (text: string): string => text.replace(UUID, (id) => (known.has(id) ? id : '<new id>'));
  return JSON.parse(
    JSON.stringify(value, (name, one: unknown) => {
      if (name === '_msgid' && /^[0-9a-f]{16}$/.test(String(one))) {
        return '<message>';
      }
      return typeof one === 'string' ? replaced(one) : one;
    }),
  ) as T;
}

/** Has a release take over the folder and asks it everything. `expected`: what the statuses will be. */
export async function askUserFolder(
  service: Answers['service'],
  options: { package?: string; expected?: Answers } = {},
): Promise<Answers> {
  const { expected } = options;
  const userDir = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-user-folder-')));
  unpackFolder(fs.readFileSync(ARCHIVE), userDir);
  const known = idsIn(userDir);
  const played = new PlayedService();
  Object.entries(service).forEach(([id, model]) => played.models.set(id, model));
  await played.listen();
  const red = await ContractNodeRed.start({
    nodes: FLOW,
    package: options.package,
    userDir,
    env: { http_proxy: played.url },
  });
  const status = async (id: string, wanted: Json | null | undefined): Promise<Json | null> => {
    const isWanted = (found: Json | undefined) =>
      JSON.stringify(settled(found ?? null, known)) === JSON.stringify(wanted ?? null);
    const shown = await red.status(id, expected === undefined ? undefined : isWanted);
    return settled(shown ?? null, known);
  };
  try {
    const answers: Answers = { service, started: {}, steps: [] };
    for (const id of ['series', 'series of events', 'series told', 'watch', 'watch alarms']) {
      answers.started[id] = await status(id, expected?.started[id]);
    }
    for (const [i, asked] of ASKED.entries()) {
      if ('call' in asked) {
        const body = asked.file === true ? fs.readFileSync(path.join(userDir, MODEL_FILE)) : asked.body;
        answers.steps.push({
          call: asked.call,
          answer: settled(await red.call(asked.call, { body }), known),
        });
        continue;
      }
      const { to, messages } = asked;
      const outcome = settled(await red.outcomeOf(to, messages), known);
      const before = expected?.steps[i];
      const shown = await status(to, before !== undefined && 'to' in before ? before.status : undefined);
      answers.steps.push({ to, given: given(messages[0]!), status: shown, outcome });
    }
    return answers;
  } finally {
    await red.stop();
    await played.close();
    fs.rmSync(userDir, { recursive: true, force: true });
  }
}

/** What a step is recognized by: the messages without their tables. */
function given(msg: Json): Json {
  return Object.fromEntries(Object.entries(msg).filter(([name]) => name !== 'payload'));
}

function idsIn(folder: string): Set<string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));
  return new Set([...names, ...texts].flatMap((text) => text.match(UUID) ?? []));
}
