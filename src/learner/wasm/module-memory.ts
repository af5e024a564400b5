import { engine, type WasmMemory } from './assemble';

const PAGE = 65_536;

/** The functions of a module, and the memory that they read. */
export interface OpenedMemory<Functions> {
  functions: Functions;
  buffer: ArrayBuffer;
}

/** A module of which each user has a memory of its own; in each thread it is compiled when first used. */
export class ModuleMemories<Functions extends object> {
  private compiled: object | undefined;
  private isRefused = engine === undefined;

  /** @param modules bytes of `assemble`: the first that the engine knows all instructions of is used */
  constructor(private readonly modules: readonly (() => Uint8Array)[]) {}

  /**
   * Undefined where the engine has no WebAssembly, or no memory for it. A memory never grows: views of it stay what they
   * are. Pages that nothing is written to take none.
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
