/** What is used of a buffer of the flatbuffers library, in which Arrow keeps its metadata. */
interface ByteBuffer {
  capacity(): number;
  __vector_len(offset: number): number;
}

const BOUNDED = Symbol.for('tabular-prediction/bounded-vectors');

/**
 * Makes the library refuse a vector of more elements than its buffer has bytes. It believes what a file says, and goes
 * over two billion elements that are not there: a damaged file of a few KB would hold the thread for minutes.
 *
 * @param flatbuffers the module as Arrow has loaded it
 */
export function boundVectors(flatbuffers: { ByteBuffer: { prototype: ByteBuffer } }): void {
  const { prototype } = flatbuffers.ByteBuffer;
  if (BOUNDED in prototype) {
    return;
  }
  const lengthOf = Object.getOwnPropertyDescriptor(prototype, '__vector_len')!.value as (
    this: ByteBuffer,
    offset: number,
  ) => number;
  prototype.__vector_len = function (offset) {
    const length = lengthOf.call(this, offset);
    if (length < 0 || length > this.capacity()) {
      throw new RangeError(`a list of ${length} in metadata of ${this.capacity()} bytes`);
    }
    return length;
  };
  Object.defineProperty(prototype, BOUNDED, { value: true });
}
