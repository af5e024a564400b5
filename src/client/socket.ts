import type { Socket } from 'node:net';

/** How long a failed write waits for what the other side sent before it closed. */
const GRACE_MS = 200;
/** Most bytes of an interim answer: it has a handful of headers at most. */
const MAX_HEAD = 16 * 1024;

type Done = (error?: Error | null) => void;

/**
 * Lets an answer be read that came before the connection broke. A server that refuses an upload answers and closes
 * while we still send; the next write then fails, and a socket whose write fails is destroyed with the answer unread
 * in it. So a failed write is reported late: by then the answer has been read, or reading has failed by itself.
 */
export function readBeforeFailing(socket: Socket): void {
  const late = (done: Done) => (error?: Error | null) => {
    if (error === undefined || error === null || socket.destroyed) {
      done(error);
      return;
    }
    const timer = setTimeout(() => done(error), GRACE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      done(error);
    });
  };
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, late(done));
  const writev = socket._writev?.bind(socket);
  if (writev !== undefined) {
    socket._writev = (chunks, done) => writev(chunks, late(done));
  }
}

/**
 * Drops each 100 (Continue) from what a socket reads. A client has to read past one that it did not ask for (RFC 9110,
 * 15.2), and a gateway may send it; undici ends the connection instead, and a predict that is paid for would be lost.
 * Other interim answers it reads past itself. No JSON begins a piece of an answer like this.
 */
export function readPastContinue(socket: Socket): void {
  const push = socket.push.bind(socket);
  /** An interim answer whose end has not come yet. */
  let begun: Buffer | undefined;
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    const held = begun;
    begun = undefined;
    if (chunk === null) {
      if (held !== undefined) {
        push(held);
      }
      return push(null);
    }
    let data = held === undefined ? chunk : Buffer.concat([held, chunk]);
    while (isContinue(data)) {
      const end = data.indexOf('\r\n\r\n');
      if (end < 0 && data.length > MAX_HEAD) {
        break;
      }
      if (end < 0) {
        begun = data;
        return true;
      }
      data = data.subarray(end + 4);
    }
    return data.length === 0 || push(data, encoding);
  };
}

function isContinue(data: Buffer): boolean {
  return data[0] === 0x48 && /^HTTP\/1\.[01] 100[ \r]/.test(data.toString('latin1', 0, 13));
}
