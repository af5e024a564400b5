import { type Code, unsigned } from './instructions';

/** A function of a module. Its result is what its body leaves on the stack. */
export interface WasmFunction {
  params: readonly number[];
  locals: readonly number[];
  result?: number;
  body: Code;
}

/** The part of the engine's WebAssembly used here; TypeScript has it among a browser's types only. */
interface WasmEngine {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
  Memory: new (size: { initial: number }) => WasmMemory;
  validate(bytes: Uint8Array): boolean;
}

export interface WasmMemory {
  /** A new one after `grow`, which detaches all views of the old one. */
  readonly buffer: ArrayBuffer;
  /** Grows by pages of 64 KiB. @throws RangeError if there are none left */
  grow(pages: number): number;
}

/** Undefined if the engine has none (`node --jitless`). */
export const engine = (globalThis as { WebAssembly?: WasmEngine }).WebAssembly;

const SECTION = { types: 1, imports: 2, functions: 3, exports: 7, code: 10 };
const FUNCTION_TYPE = 0x60;
const MEMORY = 2;

const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const text = (value: string): Code => [...unsigned(value.length), ...Buffer.from(value, 'latin1')];

/** The bytes of a module that exports these functions and imports its memory as `env.memory`. */
export function assemble(functions: Record<string, WasmFunction>): Uint8Array {
  const all = Object.values(functions);
  const types = all.map(({ params, result }) => [
    FUNCTION_TYPE,
    ...list(params.map((type) => [type])),
    ...list(result === undefined ? [] : [[result]]),
  ]);
  const bodies = all.map(({ locals, body }) => {
    const code = [...list(locals.map((type) => [1, type])), ...body, 0x0b];
    return [...unsigned(code.length), ...code];
  });
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(SECTION.types, list(types)),
    ...section(SECTION.imports, list([[...text('env'), ...text('memory'), MEMORY, 0, 1]])),
    ...section(SECTION.functions, list(all.map((_, i) => unsigned(i)))),
    ...section(
      SECTION.exports,
      list(Object.keys(functions).map((name, i) => [...text(name), 0, ...unsigned(i)])),
    ),
    ...section(SECTION.code, list(bodies)),
  ]);
}
