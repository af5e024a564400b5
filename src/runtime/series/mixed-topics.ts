import { seriesLayer } from '../lazy';
import { type FlowNode, type Message, type Red, text } from '../node-red';
import type { SeriesDef, SeriesRequest } from './request';

/** Columns whose topic is remembered at most. */
const MAX_COLUMNS = 1000;

/**
 * Warns once where machines are mixed up: no key is told, and a number comes by several topics, as where each machine
 * publishes objects under a topic of its own.
 */
export class MixedTopics {
  /** The topic that a column came by first, by key and column. */
  private readonly topics = new Map<string, string>();
  private isOver: boolean;

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly def: SeriesDef,
  ) {
    this.isOver = (def.key ?? '') !== '';
  }

  look(request: SeriesRequest, { topic }: Message): void {
    if (this.isOver || request.kind !== 'reading' || typeof topic !== 'string' || topic === '') {
      return;
    }
    const { key, reading } = request;
    const names = Object.keys(reading.cells);
    const time = seriesLayer().timeColumnOf(names, this.def.time || undefined);
    for (const column of names) {
      if (column === time || typeof reading.cells[column] !== 'number') {
        continue;
      }
      const name = JSON.stringify([key, column]);
      const first = this.topics.get(name);
      if (first === undefined && this.topics.size < MAX_COLUMNS) {
        this.topics.set(name, topic);
      } else if (first !== undefined && first !== topic) {
        this.isOver = true;
        this.topics.clear();
        const filter = filterOf(first.split('/'), topic.split('/'));
        this.node.warn(text(this.red, 'warning.topics', { column, first, topic, filter }));
        return;
      }
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
