import { spawnSync } from 'node:child_process';

/** The interpreter that Debian's package python3-prometheus-client is for. */
const PYTHON = '/usr/bin/python3';

const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
print(json.dumps([
    {'name': f.name, 'type': f.type, 'unit': f.unit, 'help': f.documentation,
     'samples': [{'name': s.name, 'labels': s.labels, 'value': str(s.value)} for s in f.samples]}
    for f in families]))
`;

export interface ParsedFamily {
  name: string;
  type: string;
  unit: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: string }[];
}

/** Whether the parser of the Prometheus project is installed: python3-prometheus-client on Debian. */
export function hasOpenMetricsParser(): boolean {
  return spawnSync(PYTHON, ['-c', 'import prometheus_client.openmetrics.parser']).status === 0;
}

/** Metric families as the parser of the Prometheus project reads them. @throws with its complaint */
export function parseOpenMetrics(text: string): ParsedFamily[] {
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', PARSE], { input: text, encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`not OpenMetrics: ${stderr}\n${text}`);
  }
  return JSON.parse(stdout) as ParsedFamily[];
}
