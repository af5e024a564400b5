import { engine, type WasmMemory } from './assemble';

const PAGE = 65_536;

/** The functions of a module, and the memory they work on. */
export interface OpenedMemory<Functions> {
  functions: Functions;
  buffer: ArrayBuffer;
}

/** A module whose users each get a memory of their own. It is compiled once per thread, on first use. */
export class ModuleMemories<Functions extends object> {
  private compiled: object | undefined;
  private isRefused = engine === undefined;

  /** @param modules bytes from `assemble`: the first that the engine accepts is used */
  constructor(private readonly modules: readonly (() => Uint8Array)[]) {}

  /**
   * Undefined if there is no WebAssembly, or no memory for it. A memory never grows, so views stay valid. Pages that
   * are never written cost nothing.
   */
  open(bytes: number): OpenedMemory<Functions> | undefined {
    if (this.isRefused || !engine) {
      return undefined;
    }
    try {
      this.compiled ??= this.compile();
      if (this.compiled === undefined) {
        this.isRefused = true;
        return undefined;
      }
      const memory: WasmMemory = new engine.Memory({ initial: Math.ceil(bytes / PAGE) });
      const { exports } = new engine.Instance(this.compiled, { env: { memory } });
      return { functions: exports as Functions, buffer: memory.buffer };
    } catch (error) {
      // Address space or memory is short: ordinary arrays need less of it.
      if (error instanceof RangeError) {
        return undefined;
      }
      throw error;
    }
  }

  private compile(): object | undefined {
    for (const module of this.modules) {
      const code = module();
      if (engine!.validate(code)) {
        return new engine!.Module(code);
      }
    }
    return undefined;
  }
}
