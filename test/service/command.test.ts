import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../helpers/wait';
import { commandsOfTests, end, inTerminal, limitsOf, runCli } from './command';
import { type Answer, answerOf, infoOf, line, putFile } from './harness';

describe('Service: the command', () => {
  const { folder, cli } = commandsOfTests();
  const post = (url: string, route: string, body: object): Promise<Answer> =>
    fetch(`${url}/svc/${route}`, {
      method: 'POST',
      headers: { authorization: 'Bearer mine', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(answerOf);
  const status = async (url: string) =>
    (
      await fetch(`${url}/svc/get_service_status`, { headers: { authorization: 'Bearer mine' } }).then(
        answerOf,
      )
    ).body;

  it('prints help and version, and explains wrong options', async () => {
    const help = await runCli(['--help']);
    assert.equal(help.code, 0);
    const pages = ['embedded-service.md', 'scale-out.md'].map((page) =>
      readFile(path.join(__dirname, '../../docs', page), 'utf8'),
    );
    const page = (await Promise.all(pages)).join('\n');
    for (const option of [
      'port',
      'token',
      'data',
      'api-name',
      'max-gb',
      'public-url',
      'metrics',
      'verbose',
      'help',
      'version',
    ]) {
      assert.ok(help.text.includes(`--${option}`), option);
    }
    for (const [option] of page.matchAll(/--[a-z]+(-[a-z]+)*/g)) {
      assert.ok(help.text.includes(option), option);
    }
    const version = JSON.parse(await readFile(path.join(__dirname, '../../package.json'), 'utf8')).version;
    assert.deepEqual(await runCli(['--version']), { code: 0, text: `${version}\n` });
    // The others: test/unit/service/command-line.test.ts.
    for (const [wrong, about, environment] of [
      [['--port', 'abc'], /--port/, {}],
      [['--token', 'two words'], /token after --token/, {}],
      [['--port', '0'], /token in TABULAR_SERVICE_TOKEN/, { TABULAR_SERVICE_TOKEN: 'two words' }],
    ] as [string[], RegExp, NodeJS.ProcessEnv][]) {
      const { code, text } = await runCli(wrong, environment);
      assert.equal(code, 2, wrong.join(' '));
      assert.match(text, about);
      assert.match(text, /--help/);
      assert.ok(!text.includes('two words') && !/^ +at /m.test(text), text);
    }
  });

  it('prints its address, the token only where it made one, and ends cleanly on both signals', async () => {
    const first = await cli(['--port', '0', '--data', await folder()]);
    assert.equal((await limitsOf(first.url, first.token)).status, 200);
    assert.equal(first.output().split(first.token!).length, 2, 'the token once');
    const data = await folder();
    const second = await cli(['--port', '0', '--data', data, '--token', 'mine', '--api-name', 'acme']);
    assert.equal(second.token, undefined);
    assert.ok(!second.output().includes('mine'));
    assert.equal((await limitsOf(second.url)).status, 404);
    assert.equal(await end(first.child, 'SIGINT'), 0);
    assert.equal(await end(second.child, 'SIGTERM'), 0);
    assert.deepEqual((await readdir(data)).sort(), ['fits', 'models', 'secret.json', 'uploads']);
  });

  it('reports its state in numbers that a monitor can watch; goes on where SIGHUP comes without a terminal', async () => {
    const { child, url } = await cli(['--port', '0', '--data', await folder(), '--token', 'mine']);
    const body = await status(url);
    assert.match(body.package_version, /^embedded-\d/);
    delete body.package_version;
    assert.deepEqual(body, {
      fits: [],
      predicts: { running: 0, waiting: 0 },
      fitted_train_sets: 0,
      train_set_uploads: 0,
      test_set_uploads: 0,
      stored_bytes: 0,
      memory_bytes: 0,
    });
    // As under nohup.
    for (let i = 0; i < 2; i++) {
      child.kill('SIGHUP');
      await sleep(200);
      assert.equal((await limitsOf(url)).status, 200);
    }
    assert.equal(await end(child, 'SIGTERM'), 0);
  });

  it('ends cleanly where its terminal closes', async () => {
    if (process.platform !== 'linux') {
      return;
    }
    const data = await folder();
    const terminal = await inTerminal(['--port', '0', '--data', data, '--token', 'mine']);
    assert.ok((await readdir(data)).includes('lock'));
    terminal.kill('SIGKILL');
    await waitFor('the lock to be given back', async () => !(await readdir(data)).includes('lock'), 10_000);
  });

  it('takes a token from the environment, and never prints one that it was given, whatever it says', async () => {
    const data = await folder();
    const started = await cli(['--port', '0', '--data', data, '--verbose'], {
      TABULAR_SERVICE_TOKEN: 'very-secret',
    });
    assert.equal((await limitsOf(started.url, 'very-secret')).status, 200);
    assert.equal((await limitsOf(started.url, 'wrong')).status, 401);
    await fetch(`${started.url}/_upload/very-secret`, { method: 'PUT', body: 'x' });
    await end(started.child, 'SIGTERM');
    assert.ok(!(started.output() + started.errors()).includes('very-secret'));
  });

  it('ends with a sentence and status 1 where the port or the folder is taken or cannot be used', async () => {
    const data = await folder();
    const first = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    const { port } = new URL(first.url);
    const blocked = path.join(await folder(), 'a file');
    await writeFile(blocked, '');
    for (const [args, about] of [
      [['--port', port, '--data', await folder()], new RegExp(`port ${port} is in use`)],
      [['--port', '0', '--data', data], /in use by another tabular-service.*process/],
      [['--port', '0', '--data', blocked], /cannot be used.*choose one/],
    ] as [string[], RegExp][]) {
      const { code, text } = await runCli(args);
      assert.equal(code, 1, text);
      assert.match(text, about);
      assert.ok(!/^ +at /m.test(text), text);
    }
    assert.equal((await limitsOf(first.url)).status, 200);
  });

  it('shows a fit under way, ends in the middle of it, and has the upload afterwards but no half model', async function () {
    this.timeout(180_000);
    const data = await folder();
    const args = ['--port', '0', '--data', data, '--token', 'mine', '--verbose'];
    const first = await cli(args);
    const { x, y } = line(30_000);
    const prepare = () =>
      post(first.url, 'prepare_train_set_upload', { x_train_info: infoOf(x), y_train_info: infoOf(y) });
    const { body } = await prepare();
    await putFile(body.x_train_info, x);
    await putFile(body.y_train_info, y);
    const id = body.train_set_upload_id as string;
    const fit = post(first.url, 'fit', { train_set_upload_id: id, task: 'regression' }).catch(
      () => undefined,
    );
    let fits = [];
    for (let i = 0; i < 3000 && !(fits[0]?.progress > 0); i++) {
      await sleep(20);
      fits = (await status(first.url)).fits;
    }
    assert.deepEqual(Object.keys(fits[0]).sort(), [
      'fitted_train_set_id',
      'progress',
      'started_at',
      'task',
      'train_set_upload_id',
    ]);
    assert.equal(fits[0].train_set_upload_id, id);
    assert.ok(fits[0].progress > 0 && fits[0].progress <= 1);
    assert.ok(Math.abs(Date.now() - fits[0].started_at) < 60_000);
    assert.match(first.errors(), new RegExp(`Fit ${fits[0].fitted_train_set_id} of ${id} starts`));
    assert.equal(await end(first.child, 'SIGTERM'), 0);
    await fit;
    const second = await cli(args);
    const after = await status(second.url);
    assert.deepEqual([after.fits, after.fitted_train_sets, after.train_set_uploads], [[], 0, 1]);
    assert.deepEqual(await readdir(path.join(data, 'models')), []);
    assert.ok(!second.errors().includes('Set aside'), second.errors());
    const again = await post(second.url, 'fit', {
      train_set_upload_id: id,
      task: 'regression',
      svc_config: { n_estimators: 1 },
    });
    assert.equal(again.body.status, 'completed', again.text);
    assert.deepEqual(await readdir(path.join(data, 'models')), [again.body.fitted_train_set_id]);
  });

  it('goes on when nobody reads any more what it says', async () => {
    const data = await folder();
    const { child, url } = await cli(['--port', '0', '--data', data, '--token', 'mine', '--verbose']);
    child.stdout!.destroy();
    child.stderr!.destroy();
    for (let i = 0; i < 3; i++) {
      // Each fit says something when --verbose is given.
      const { x, y } = line(30);
      const info = { x_train_info: infoOf(x), y_train_info: infoOf(y), force_reupload: true };
      const { body } = await post(url, 'prepare_train_set_upload', info);
      await putFile(body.x_train_info, x);
      await putFile(body.y_train_info, y);
      const fit = await post(url, 'fit', {
        train_set_upload_id: body.train_set_upload_id,
        task: 'regression',
        svc_config: { n_estimators: 1 },
      });
      assert.equal(fit.status, 200, fit.text);
    }
    assert.equal(await end(child, 'SIGTERM'), 0);
  });
});
