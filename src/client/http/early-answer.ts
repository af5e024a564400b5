import type { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

/** How long a failed write waits for what the other side sent before it closed. */
const GRACE_MS = 200;

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
