import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { removedAtEnd } from '../helpers/temporary';
import { unpackFolder } from './archive';
import { type Called, ContractNodeRed, type Json, type Outcome } from './contract-node-red';
import { ADMIN_AUTH, DONE, PERMITTED, USERS } from './editor-routes';
import { type PlayedModel, PlayedService } from './played-service';
import { ASKED, type Call, FLOW } from './user-folder-flow';

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
  /** The status that each user gets, by the call. */
  permitted: Record<string, Record<string, number>>;
}

export type Answered =
  | { to: string; given: Json; status: Json | null; outcome: Outcome }
  | { call: string; body?: Json; answer: Called };

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
    settings: ADMIN_AUTH,
  });
  const status = async (id: string, wanted: Json | null | undefined): Promise<Json | null> => {
    const isWanted = (found: Json | undefined) =>
      JSON.stringify(settled(found ?? null, known)) === JSON.stringify(wanted ?? null);
    const shown = await red.status(id, expected === undefined ? undefined : isWanted);
    return settled(shown ?? null, known);
  };
  const tokens = new Map<string, string>();
  const login = async (user: string): Promise<string> => {
    const known = tokens.get(user) ?? (await red.login(user));
    tokens.set(user, known);
    return known;
  };
  const called = async ({ call, file = false, body: given }: Call): Promise<Answered> => {
    const body = file ? fs.readFileSync(path.join(userDir, MODEL_FILE)) : given;
    const {
      status: code,
      type,
      body: answer,
    } = await red.call(call, { body, token: await login('everything') });
    return {
      call,
      ...(given && { body: given }),
      answer: settled({ status: code, type, body: withoutText(answer) }, known),
    };
  };
  try {
    const answers: Answers = { service, started: {}, steps: [], permitted: {} };
    for (const id of ['series', 'series of events', 'series told', 'watch', 'watch alarms']) {
      answers.started[id] = await status(id, expected?.started[id]);
    }
    for (const [i, asked] of ASKED.entries()) {
      if ('call' in asked) {
        answers.steps.push(await called(asked));
        continue;
      }
      const { to, messages } = asked;
      const outcome = settled(await red.outcomeOf(to, messages), known);
      const before = expected?.steps[i];
      const shown = await status(to, before !== undefined && 'to' in before ? before.status : undefined);
      answers.steps.push({ to, given: given(messages[0]!), status: shown, outcome });
    }
    for (const { call, body } of PERMITTED) {
      const statuses: Record<string, number> = { nobody: (await red.call(call, { body })).status };
      for (const user of Object.keys(USERS)) {
        statuses[user] = (await red.call(call, { body, token: await login(user) })).status;
      }
      answers.permitted[call] = statuses;
    }
    for (const call of DONE) {
      answers.steps.push(await called(call));
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

/** An error without its words, and of a file how it begins. */
function withoutText(body: unknown): unknown {
  if (Buffer.isBuffer(body)) {
    return { begins: body.toString('latin1', 0, 2) };
  }
  const { message } = (body ?? {}) as Json;
  return typeof message === 'string' ? { ...(body as Json), message: '<text>' } : body;
}

function idsIn(folder: string): Set<string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));
  return new Set([...names, ...texts].flatMap((text) => text.match(UUID) ?? []));
}
