/* A service whose heap is 64 MB, and fits of as many words as it bears, or more. */
import assert from 'node:assert/strict';

import { end, startCli } from '../service/command';
import { type Answer, infoOf, postTo, putFile } from '../service/harness';

/** Words of letters: 0 is "a", 10 is "ba". */
const WORDS = Array.from({ length: 20_000 }, (_, n) =>
  String(n).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!),
);

/** Starts a service in a process of its own, whose data is in this folder; it must have survived the work. */
export async function onSmallHeap(
  data: string,
  work: (fit: (rows: number, words: number) => Promise<Answer>) => Promise<void>,
): Promise<void> {
  const args = ['--port', '0', '--data', data, '--token', 'mine'];
  const { child, url } = await startCli(args, { NODE_OPTIONS: '--max-old-space-size=64' });
  const post = (route: string, body: object): Promise<Answer> => postTo(url, route, body);
  /** Rows with a number and a note of so many words, drawn at random. */
  const fit = async (rows: number, words: number): Promise<Answer> => {
    let state = 1;
    const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    const note = (): string =>
      Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]!).join(' ');
    const x = `number,note\n${Array.from({ length: rows }, (_, i) => `${i},${note()}\n`).join('')}`;
    const y = `y\n${Array.from({ length: rows }, (_, i) => `${i % 2}\n`).join('')}`;
    const { body } = await post('prepare_train_set_upload', {
      x_train_info: infoOf(x),
      y_train_info: infoOf(y),
    });
    await putFile(body.x_train_info, x);
    await putFile(body.y_train_info, y);
    return post('fit', {
      train_set_upload_id: body.train_set_upload_id,
      task_config: { task: 'classification', svc_config: { n_estimators: 2 } },
    });
  };
  try {
    await work(fit);
    assert.equal(child.exitCode, null);
  } finally {
    await end(child, 'SIGTERM');
  }
}
