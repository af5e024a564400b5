/** Upper bounds of the buckets, in seconds. */
const REQUEST_BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300];
const FIT_BUCKETS = [1, 3, 10, 30, 100, 300, 1_000, 3_000];

/** How a fit ended: `stopped` by a deletion, by its client or by the end of the service. */
export type FitResult = 'completed' | 'failed' | 'stopped';

/** What the service has done since its thread was started: counts and durations, for `/metrics`. */
export class ServiceMetrics {
  /** Of answered requests, by route and status. */
  private readonly requests = new Map<string, Histogram>();
  private readonly fits = new Map<FitResult, Histogram>();
  private predictedRows = 0;

  /**
   * @param route one of the routes of the service; `none` for a request that has none, or whose token was refused
   * @param status the status sent; undefined where the client had gone before
   */
  countRequest(route: string, status: number | undefined, seconds: number): void {
    observe(this.requests, `route="${route}",code="${status ?? 'none'}"`, seconds, REQUEST_BUCKETS);
  }

  countFit(result: FitResult, seconds: number): void {
    observe(this.fits, result, seconds, FIT_BUCKETS);
  }

  countPredictedRows(rows: number): void {
    this.predictedRows += rows;
  }

  /** The metric families of what was counted, in the text format of OpenMetrics 1.0. */
  text(): string {
    const requests = [...this.requests].flatMap(([labels, histogram]) =>
      histogram.lines('tabular_service_request_duration_seconds', labels),
    );
    const fits = [...this.fits].flatMap(([result, histogram]) =>
      histogram.lines('tabular_service_fit_duration_seconds', `result="${result}"`),
    );
    return (
      family({
        name: 'tabular_service_request_duration_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time from the headers of a request to the end of its answer.',
        samples: requests,
      }) +
      family({
        name: 'tabular_service_fit_duration_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time from the begin of a fit, waiting included, to its end.',
        samples: fits,
      }) +
      family({
        name: 'tabular_service_predicted_rows',
        type: 'counter',
        help: 'Rows predicted.',
        samples: [`tabular_service_predicted_rows_total ${this.predictedRows}`],
      })
    );
  }
}

export interface MetricFamily {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'info';
  /** A base unit; the name ends with it. */
  unit?: 'seconds' | 'bytes';
  help: string;
  /** Lines without their ends. */
  samples: string[];
}

/** A metric family in the text format of OpenMetrics 1.0. */
export function family({ name, type, unit, help, samples }: MetricFamily): string {
  const described = [
    `# TYPE ${name} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${help}`,
  ];
  return [...described, ...samples].map((line) => `${line}\n`).join('');
}

class Histogram {
  private readonly counts: number[];
  private count = 0;
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const at = this.bounds.findIndex((bound) => value <= bound);
    if (at >= 0) {
      this.counts[at]! += 1;
    }
    this.count += 1;
    this.sum += value;
  }

  lines(name: string, labels: string): string[] {
    let below = 0;
    const buckets = this.bounds.map((bound, i) => {
      below += this.counts[i]!;
      return `${name}_bucket{${labels},le="${Number.isInteger(bound) ? `${bound}.0` : bound}"} ${below}`;
    });
    return [
      ...buckets,
      `${name}_bucket{${labels},le="+Inf"} ${this.count}`,
      `${name}_count{${labels}} ${this.count}`,
      `${name}_sum{${labels}} ${this.sum}`,
    ];
  }
}

function observe<K>(histograms: Map<K, Histogram>, key: K, value: number, bounds: readonly number[]): void {
  let histogram = histograms.get(key);
  if (histogram === undefined) {
    histogram = new Histogram(bounds);
    histograms.set(key, histogram);
  }
  histogram.observe(value);
}
