import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { readBeforeFailing } from '../../doors/client';

/** A socket whose writes end as told, with what `readBeforeFailing` makes of them. */
function socketWhoseWrites(end: Error | null): Socket {
  const socket = new Socket();
  socket._write = (_chunk, _encoding, done) => done(end);
  readBeforeFailing(socket);
  return socket;
}

const written = (socket: Socket): Promise<Error | null | undefined> =>
  new Promise((resolve) => socket._write(Buffer.from('x'), 'utf8', resolve));

describe('client: a write that fails while an answer may be on its way', () => {
  const broken = new Error('EPIPE');

  it('is reported after a while in which the answer can be read', async () => {
    const began = performance.now();
    assert.equal(await written(socketWhoseWrites(broken)), broken);
    assert.ok(performance.now() - began >= 150, 'it was reported at once');
  });

  it('is reported as soon as the socket is closed', async () => {
    const socket = socketWhoseWrites(broken);
    const failing = written(socket);
    socket.emit('close');
    assert.equal(await Promise.race([failing, sleep(100)]), broken, 'it was waited for in vain');
  });

  it('is not held up where it went well', async () => {
    assert.equal(await Promise.race([written(socketWhoseWrites(null)), sleep(100)]), null);
  });
});
