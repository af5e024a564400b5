export interface ExampleNode {
  id: string;
  type: string;
  wires: string[][];
  [property: string]: unknown;
}

export class Flow {
  tab: string;
  constructor(label: string, info?: string, env?: object[]);
  needs(...packages: string[]): void;
  config(type: string, name: string, properties?: object): string;
  node(type: string, name: string, place: [number, number], properties?: object): ExampleNode;
  comment(text: string, place: [number, number], info?: string): ExampleNode;
  code(name: string, place: [number, number], file: string, properties?: object): ExampleNode;
  debug(name: string, place: [number, number], complete: string, targetType?: string): ExampleNode;
  errors(place: [number, number], options?: { beside?: number; status?: boolean }): void;
  group(name: string, nodes: ExampleNode[], colour: string): void;
  wire(...stations: (ExampleNode | ExampleNode[])[]): void;
  wireOutput(from: ExampleNode, output: number, ...to: ExampleNode[]): void;
  toJSON(): ExampleNode[];
  inLanguage(
    language: string,
    catalogue: Record<string, string>,
    missing: (text: string) => void,
  ): ExampleNode[];
}

/** The embedded service, by no node of its own. */
export const EMBEDDED: '';

export const NODE_DEFAULTS: Record<'inject' | 'function' | 'debug', object>;

/** A series node as it is dragged in. */
export const SERIES_DEFAULTS: object;

export function source(file: string): string;
