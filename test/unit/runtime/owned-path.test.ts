import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { KeptWatches, OwnedPath, SeriesKeeper } from '../../doors/runtime';
import { Watch } from '../../doors/watch';
import { stoppedClock } from '../../helpers/clock';
import { holding } from '../../helpers/failing-files';
import { Gate } from '../../helpers/wait';
import { fakeRed, fakeRuntime } from './fake';

describe('a path that one node at a time writes', () => {
  const clock = stoppedClock();
  const of = () => new OwnedPath(fakeRuntime({}));

  it('is taken once the node before has written, by the one that came first', async () => {
    const [before, next, last] = [of(), of(), of()];
    const written = new Gate();
    await before.take('/a', () => new Error() as never);
    await before.take('/a');
    const left = before.letGo(() => written.opened);
    const order: string[] = [];
    const taken = next.take('/a').then(() => order.push('next'));
    const refused = last.take('/a', ({ id }) => Object.assign(new Error(id), { code: 'x' }) as never);
    assert.ok(next.isWaiting && last.isWaiting);
    await Promise.resolve();
    assert.deepEqual(order, []);
    written.open();
    await left;
    await taken;
    assert.ok(!next.isWaiting);
    await assert.rejects(refused, { message: 'n1' });
    await next.letGo(() => Promise.resolve());
    await last.take('/a');
    await last.letGo(() => Promise.resolve());
  });

  it('is refused where the node before does not let go, at once for whoever comes later, until it does', async () => {
    const [before, next] = [of(), of()];
    const written = new Gate();
    await before.take('/b');
    const left = before.letGo(() => written.opened);
    const why = /^The disk does not answer: .* has been writing in \/b for 120 s/;
    const refused = next.take('/b');
    clock.pass(120_000);
    assert.match((await refused)!, why);
    assert.match((await next.take('/b'))!, why);
    written.open();
    await left;
    assert.equal(await next.take('/b'), undefined);
    await next.letGo(() => Promise.resolve());
  });

  it('is let go where writing fails, and waited for no longer by a node that closes', async () => {
    const [before, next, last] = [of(), of(), of()];
    const written = new Gate();
    await before.take('/c');
    const left = before.letGo(() => written.opened);
    const waiting = assert.rejects(next.take('/c'), { code: 'closed' });
    await next.letGo(() => Promise.resolve());
    await waiting;
    const taken = last.take('/c');
    written.fail(new Error('no space'));
    await assert.rejects(left, /no space/);
    await taken;
    await last.letGo(() => Promise.resolve());
  });

  it('has room for ten thousand messages that wait, and for any number otherwise', async () => {
    const [before, next] = [of(), of()];
    assert.equal(next.full(1e6), undefined);
    await before.take('/d');
    const written = new Gate();
    const left = before.letGo(() => written.opened);
    const taken = next.take('/d');
    assert.equal(next.full(9_999), undefined);
    assert.equal(next.full(10_000)!.code, 'queue.full');
    written.open();
    await Promise.all([left, taken]);
    assert.equal(next.full(1e6), undefined);
    assert.equal(next.full(1e6, true)!.code, 'queue.full', 'a write is slow');
    await next.letGo(() => Promise.resolve());
  });
});

describe('a node that is deployed anew while the disk is slow', () => {
  let userDir = '';
  beforeEach(() => (userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-owned-'))));
  afterEach(() => fs.rmSync(userDir, { recursive: true, force: true }));

  it('has all readings of the series node before it', async () => {
    const red = fakeRed({}, { userDir });
    const keeper = () => new SeriesKeeper(fakeRuntime({ column: 'x', train: 'never' } as never, red));
    const [before, next] = [keeper(), keeper()];
    const series = await before.open();
    for (let i = 0; i < 40; i++) {
      await series.push({ time: 1.7e12 + i * 60_000, x: i });
    }
    const disk = holding('open', /series.*tmp$/);
    const closed = before.close();
    await disk.reached;
    const reopened = next.open();
    disk.letGo();
    await closed;
    const { progress } = await reopened;
    assert.equal(progress.readings, 40);
    await next.close();
  });

  it('has all that the watch node before it counted', async () => {
    const red = fakeRed({}, { userDir });
    const kept = () => new KeptWatches(fakeRuntime({}, red), () => ({}));
    const [before, next] = [kept(), kept()];
    await before.use((watches) => {
      watches.set('m', new Watch({ name: 'm', id: 'm', task: 'regression' }, {}));
    });
    before.changed(false);
    const disk = holding('open', /watch.*tmp$/);
    const closed = before.close(false);
    await disk.reached;
    const models = next.use((watches) => [...watches.keys()]);
    disk.letGo();
    await closed;
    assert.deepEqual(await models, ['m']);
    await next.close(false);
  });
});
