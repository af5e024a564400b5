import { type AdviceWords, type AdviseRequest, Advisor, ENGLISH } from '../../advise';
import type { FlowProperties } from '../../settings/kinds';
import { ADVISE } from '../../settings/nodes';
import { ServiceError } from '../../wire/service-error';
import type { UsedConfig } from '../config/config-state';
import type { TableReader } from '../input/table-input';
import type { MessageWork } from '../messages/message-handler';
import { type FlowNodeDef, type Message, number, type Red, SHARED_CATALOGUE } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { namedModel, readCleaning } from '../requests/common';

/** The advise node as it stands in a flow file. */
export type AdviseDef = FlowNodeDef & FlowProperties<typeof ADVISE>;

/** Marks a place in a text of the catalogue: values are data, and must not be taken for instructions to i18next. */
const MARK = '\u0001';
const VALUES = [
  'changes',
  'what',
  'then',
  'now',
  'columns',
  'column',
  'to',
  'by',
  'value',
  'low',
  'high',
].concat([...['percent', 'cost', 'with', 'outside', 'first', 'rest']]);
const MARKED = new RegExp(`${MARK}(\\w+)${MARK}`, 'g');

/** The sentences of an advice, in the runtime's language. */
export function adviceWords(red: Red): AdviceWords {
  const marks = Object.fromEntries(VALUES.map((name) => [name, `${MARK}${name}${MARK}`]));
  const textOf = (key: string): string => red._(`${SHARED_CATALOGUE}:advice.${key}`, marks);
  if (!textOf('set').includes(MARK)) {
    return ENGLISH;
  }
  return {
    word: (key, values) => textOf(key).replace(MARKED, (_, name: string) => values[name] ?? ''),
    number: (value) => {
      const short = Number(value.toPrecision(4));
      return number(red, short, String(short).split('.')[1]?.length ?? 0);
    },
  };
}

/** What a message asks of the advise node. @throws ServiceError `config.invalid`, `validation.failed` … */
export async function adviseRequest(
  runtime: NodeRuntime<AdviseDef>,
  table: TableReader,
  msg: Message,
): Promise<AdviseRequest> {
  const read = runtime.settings(ADVISE, msg);
  const input = await table.read(msg);
  const { model } = namedModel(read('model') ?? '', msg);
  if (model === undefined) {
    throw new ServiceError(
      'model.unknown',
      'Advice needs a model by its name or its card, and an id is not enough: choose one in the node, or set msg.model.',
    );
  }
  return {
    row: 'value' in input ? input.value : undefined,
    model,
    vary: read('vary') ?? [],
    goal: read('goal'),
    value: read('value'),
    sure: read('sure'),
    follow: read('follow'),
    candidates: read('candidates'),
    maxCost: read('maxCost'),
    missingColumns: read('missingColumns'),
    ...readCleaning(read),
  };
}

/** Answers the messages of one advise node. */
export class AdviceAnswers {
  private opened: { advisor: Advisor; close: () => Promise<void> } | undefined;

  constructor(
    private readonly runtime: NodeRuntime<AdviseDef>,
    private readonly config: UsedConfig,
    private readonly table: TableReader,
  ) {}

  /** Adds `msg.advice`; to be verified, the message goes on as the prediction of the advised row. */
  async answer(request: AdviseRequest, msg: Message, work: MessageWork): Promise<Message> {
    const { advice, row, modelName, predictedBy } = await this.advisor().advise(request, work.hooks);
    msg.advice = advice;
    const { set } = advice;
    if (this.runtime.settings(ADVISE, msg)('verify') && set !== null) {
      this.table.write(msg, row);
      msg.model_name = modelName;
      msg.predicted_by = predictedBy;
      msg.series = { id: advice.id };
    }
    const changed = Object.entries(set ?? {});
    if (set === null) {
      work.status.show('doubtful', 'advice.nowhere');
    } else if (changed.length === 0) {
      work.status.show('ready', 'advice.nothing');
    } else {
      const [column, to] = changed[0]!;
      const shorter = { key: 'advice.several', values: { count: changed.length } };
      const one = { key: 'advice.one', values: { column, to: String(to) }, shorter };
      work.status.showLater('ready', () => (changed.length === 1 ? one : shorter));
    }
    return msg;
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  private advisor(): Advisor {
    if (this.opened === undefined) {
      const connection = this.config.connection();
      const predictor = connection.predictor();
      this.opened = {
        advisor: new Advisor(connection, predictor, adviceWords(this.runtime.red)),
        close: () => predictor.close(),
      };
    }
    return this.opened.advisor;
  }
}
