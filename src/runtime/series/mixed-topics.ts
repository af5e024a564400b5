import { seriesLayer } from '../lazy';
import { type FlowNode, type Message, type Red, text } from '../node-red';
import type { SeriesDef, SeriesRequest } from './types';

/** Columns whose topic is remembered at most. */
const MAX_COLUMNS = 1000;

/**
 * Warns once where a column of one key gets numbers by several topics: where no key is told, machines are mixed up that
 * each publish under a topic of their own; otherwise two sensors are.
 */
export class MixedTopics {
  /** The topic that a column came by first, by key and column. */
  private readonly topics = new Map<string | undefined, Map<string, string>>();
  private columns = 0;
  private isOver = false;

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly def: SeriesDef,
  ) {}

  look(request: SeriesRequest, { topic }: Message): void {
    if (this.isOver || typeof topic !== 'string' || topic === '') {
      return;
    }
    if (request.kind === 'reading') {
      this.lookAt(request.key, request.reading.cells, topic);
    } else if (request.kind === 'readings') {
      for (const { key, values } of request.readings) {
        this.lookAt(key, values, topic);
      }
    }
  }

  private lookAt(key: string | undefined, cells: Record<string, unknown>, topic: string): void {
    let known = this.topics.get(key);
    if (known === undefined) {
      known = new Map();
      this.topics.set(key, known);
    }
    const names = Object.keys(cells);
    const time = seriesLayer().timeColumnOf(names, this.def.time || undefined);
    for (const column of names) {
      if (this.isOver || column === time || typeof cells[column] !== 'number') {
        continue;
      }
      const first = known.get(column);
      if (first === undefined && this.columns < MAX_COLUMNS) {
        known.set(column, topic);
        this.columns++;
      } else if (first !== undefined && first !== topic) {
        this.tell(key, column, first, topic);
      }
    }
  }

  private tell(key: string | undefined, column: string, first: string, topic: string): void {
    this.isOver = true;
    this.topics.clear();
    if ((this.def.key ?? '') === '') {
      const filter = filterOf(first.split('/'), topic.split('/'));
      this.node.warn(text(this.red, 'warning.topics', { column, first, topic, filter }));
    } else {
      this.node.warn(text(this.red, 'warning.topicsOfKey', { column, first, topic, key: key ?? '' }));
    }
  }
}

/** What tells two topics apart by the first level in which they differ. */
function filterOf(one: readonly string[], other: readonly string[]): string {
  const at = one.findIndex((level, i) => level !== other[i]);
  const differing = at < 0 ? one.length : at;
  const isLast = differing === Math.max(one.length, other.length) - 1;
  return [...one.slice(0, differing), '+', ...(isLast ? [] : ['#'])].join('/');
}
