import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root, startNodeRed } from '../helpers/node-red';
import { removedAtEnd } from '../helpers/temporary';
import { findChromium, openEditor, sheet } from './editor';

/** The package of this checkout without its script of the sidebar. */
function packageWithoutSidebar(): string {
  const folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-half-')));
  for (const name of ['dist', 'node_modules']) {
    fs.symlinkSync(path.join(root, name), path.join(folder, name), 'junction');
  }
  fs.cpSync(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  fs.cpSync(path.join(root, 'resources'), path.join(folder, 'resources'), { recursive: true });
  fs.rmSync(path.join(folder, 'resources', 'models.js'));
  return folder;
}

describe('a package that lacks the script of the sidebar, in Chromium', function () {
  this.timeout(90_000);

  it('leaves the editor to open without it, and says what is missing', async function () {
    const chromium = findChromium();
    if (chromium === undefined) {
      this.skip();
    }
    const red = await startNodeRed({
      flows: sheet(),
      link: { 'node-red-contrib-tabular-prediction': packageWithoutSidebar() },
    });
    try {
      const editor = await openEditor(chromium, red.url);
      try {
        const notice = editor.page.locator('.red-ui-notification').getByText('sidebar Models is missing');
        await notice.waitFor();
        assert.equal(await editor.page.locator('#red-ui-tab-tabular-models').count(), 0);
        assert.deepEqual(
          editor.complaints.filter((complaint) => !complaint.includes('404')),
          [],
        );
      } finally {
        await editor.close();
      }
    } finally {
      await red.stop();
    }
  });
});
