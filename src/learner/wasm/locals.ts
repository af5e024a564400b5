import type { WasmFunction } from './assemble';
import type { Code } from './instructions';

/** Numbers the parameters of a function, then its locals. */
export class Locals {
  private readonly params: number[] = [];
  private readonly locals: number[] = [];

  parameters(count: number, type: number): number[] {
    return this.take(this.params, count, type);
  }

  /** Declares locals, after all parameters. */
  more(count: number, type: number): number[] {
    return this.take(this.locals, count, type);
  }

  function(body: Code): WasmFunction {
    return { params: this.params, locals: this.locals, body };
  }

  private take(list: number[], count: number, type: number): number[] {
    return Array.from({ length: count }, () => {
      list.push(type);
      return this.params.length + this.locals.length - 1;
    });
  }
}
