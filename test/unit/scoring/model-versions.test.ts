import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type FittedModel, ModelCards } from '../../doors/scoring';

/** The model of one fit; `at` is its number. */
function fitted(at: number, name = 'pump'): FittedModel {
  return {
    name,
    fitted_train_set_id: `fitted-${at}`,
    train_set_upload_id: `upload-${at}`,
    task: 'regression',
    target: 'heat',
    columns: [{ name: 'load', type: 'number' }],
    rows: 100 + at,
    options: {},
    service: 'embedded',
    fitted_at: `2026-01-${String(at).padStart(2, '0')}T00:00:00.000Z`,
  };
}

describe('versions of a model', () => {
  let cards: ModelCards;
  const put = (...numbers: number[]): void =>
    numbers.forEach((at) => void cards.put(fitted(at), `print-${at}`));
  const kept = (): number[] => cards.get('pump')!.versions.map(({ version }) => version);
  const inCharge = (): number => cards.get('pump')!.version;
  const idOf = (name: string): string | undefined => cards.get(name)?.fitted_train_set_id;
  const released = (): string[] => cards.superfluous().map(({ fitted }) => fitted);

  beforeEach(() => {
    cards = ModelCards.open({ service: 'memory' });
  });

  it('are counted; the newest five are kept, each by name@version, and the service may drop the others', () => {
    put(1, 2, 3, 4, 5, 6, 7);
    assert.deepEqual(kept(), [7, 6, 5, 4, 3]);
    assert.deepEqual(cards.get('pump')!.versions[0], {
      version: 7,
      fitted_at: fitted(7).fitted_at,
      rows: 107,
      why: 'refit',
    });
    assert.equal(idOf('pump'), 'fitted-7');
    assert.equal(idOf('pump@3'), 'fitted-3');
    assert.equal(cards.get('pump@3')!.version, 3);
    assert.equal(cards.get('pump@2'), undefined);
    assert.equal(cards.has('pump@2'), false);
    assert.equal(cards.byFittedId('fitted-3')?.version, 3);
    assert.deepEqual(released().sort(), ['fitted-1', 'fitted-2']);
  });

  it('come with another model alone: an unchanged one stays the version that it is', () => {
    put(1, 2, 2);
    assert.equal(inCharge(), 2);
    assert.deepEqual(kept(), [2, 1]);
    put(1);
    assert.equal(inCharge(), 3, 'the first model again, after another one');
    assert.equal(cards.rollBack('pump', true).version, 2);
    assert.equal(cards.rollBack('pump', true).version, 1);
  });

  it('a model whose own name holds an @ is meant first', () => {
    put(1, 2);
    cards.put(fitted(9, 'pump@1'));
    assert.equal(idOf('pump@1'), 'fitted-9');
    assert.equal(idOf('pump@1@1'), 'fitted-9');
    assert.equal(idOf('pump@2'), 'fitted-2');
    for (const none of ['pump@', 'pump@0', 'pump@01', 'pump@-1', 'pump@1.0', '@1', 'pump@9999999999']) {
      assert.equal(cards.get(none), undefined, none);
    }
  });

  it('roll back to what was in charge before, twice to the one before that, and by number to any', () => {
    put(1, 2, 3);
    assert.equal(cards.rollBack('pump', true).version, 2);
    assert.equal(cards.rollBack('pump', true).version, 1);
    assert.throws(() => cards.rollBack('pump', true), { code: 'rollback.impossible' });
    assert.equal(inCharge(), 1);
    assert.deepEqual(kept(), [3, 2, 1], 'the later ones stay');
    assert.equal(cards.rollBack('pump', 3).version, 3);
    assert.throws(() => cards.rollBack('pump', 4), { code: 'rollback.impossible', message: /1, 2, 3/ });
    assert.throws(() => cards.rollBack('fan', true), { code: 'model.unknown' });
  });

  it('after a roll back the next fit has a number of its own, and goes back past what was rolled back from', () => {
    put(1, 2, 3);
    cards.rollBack('pump', true);
    put(4);
    assert.equal(inCharge(), 4);
    assert.equal(cards.rollBack('pump', true).version, 2);
    assert.equal(cards.rollBack('pump', true).version, 1);
  });

  it('the one to go back to is kept, however many came late', () => {
    put(1, 2);
    for (let at = 3; at <= 9; at++) {
      cards.put(fitted(at), undefined, { takesCharge: false });
    }
    assert.deepEqual(kept(), [9, 8, 7, 2, 1]);
    assert.equal(inCharge(), 2);
    put(10, 11, 12);
    assert.deepEqual(kept(), [12, 11, 10, 9, 8]);
    assert.equal(cards.rollBack('pump', true).version, 11);
    assert.equal(cards.rollBack('pump', true).version, 10);
    assert.throws(() => cards.rollBack('pump', true), { code: 'rollback.impossible' });
  });

  it('are rolled back past a dead one, never to one', () => {
    put(1, 2, 3);
    cards.markDead('fitted-2');
    assert.throws(() => cards.rollBack('pump', 2), { code: 'rollback.impossible', message: /version 2/ });
    assert.equal(cards.rollBack('pump', true).version, 1);
  });

  it('a fit that ends after a roll back is a version that is not in charge', () => {
    put(1, 2);
    const running = cards.beginFit('pump');
    cards.rollBack('pump', true);
    const { own, inCharge: stays } = running.done(fitted(3), 'print-3');
    assert.equal(stays.version, 1);
    assert.equal(own.version, 3);
    assert.equal(own.versions[0]!.why, 'late');
    assert.equal(idOf('pump'), 'fitted-1');
    assert.equal(idOf('pump@3'), 'fitted-3');
    cards.beginFit('pump').done(fitted(4));
    assert.equal(inCharge(), 4, 'one that began after it takes charge');
  });

  it('the train set of a version that was rolled back from does not bring it back', () => {
    put(1, 2, 3);
    cards.rollBack('pump', 2);
    assert.equal(cards.byFingerprint('print-3', 'pump')?.aside, true);
    assert.equal(cards.byFingerprint('print-2', 'pump')?.aside, false);
    assert.equal(cards.byFingerprint('print-1', 'pump')?.aside, false);
    assert.equal(cards.byFingerprint('print-3', 'fan'), undefined, 'of another name only what is in charge');
  });

  it('where the service has lost the one in charge, its train set is fitted anew, not found among older ones', () => {
    cards.put(fitted(1), 'same');
    cards.put(fitted(2), 'same');
    cards.markDead('fitted-2');
    assert.equal(cards.byFingerprint('same', 'pump'), undefined);
    cards.put(fitted(3), 'same');
    assert.equal(cards.byFingerprint('same', 'pump')?.card.version, 3);
  });

  it('follow a new name, and go with their name', () => {
    put(1, 2);
    cards.put(fitted(2, 'fan'));
    assert.throws(() => cards.rename('pump', 'fan'), { code: 'validation.failed' });
    assert.throws(() => cards.rename('pump', ''), { code: 'validation.failed' });
    assert.throws(() => cards.rename('drive', 'motor'), { code: 'model.unknown' });
    cards.rename('pump', 'constructor');
    assert.equal(cards.has('pump'), false);
    assert.equal(idOf('constructor@1'), 'fitted-1');
    assert.equal(cards.get('constructor')?.name, 'constructor');
    cards.remove('constructor');
    assert.equal(cards.get('constructor'), undefined);
    assert.equal(cards.byFittedId('fitted-1'), undefined);
    assert.deepEqual(released(), ['fitted-1'], 'the other name still means the second');
    assert.equal(cards.byFittedId('fitted-2')?.name, 'fan');
    assert.throws(() => cards.remove('constructor'), { code: 'model.unknown' });
  });

  describe('in a file', () => {
    let folder: string;
    let file: string;
    const open = (): void => {
      cards = ModelCards.open({ path: file, service: 'embedded' });
    };
    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'versions-'));
      file = path.join(folder, 'models.json');
      open();
    });
    afterEach(async () => {
      await cards.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('are known again, with who is in charge and what is to be removed', async () => {
      put(1, 2, 3, 4, 5, 6);
      cards.put({ ...fitted(7), columns: [{ name: 'speed', type: 'text' }] }, 'print-7', { why: 'better' });
      cards.rollBack('pump', 5);
      const before = [cards.get('pump'), cards.get('pump@7'), cards.get('pump@4')];
      await cards.close();
      open();
      assert.deepEqual([cards.get('pump'), cards.get('pump@7'), cards.get('pump@4')], before);
      assert.equal(before[1]!.versions[0]!.why, 'better');
      assert.deepEqual(before[2]!.columns, fitted(4).columns);
      assert.deepEqual(released(), ['fitted-2', 'fitted-1']);
      assert.equal(cards.rollBack('pump', true).version, 4);
    });

    it('a fit that a restart took up again does not undo a roll back either', async () => {
      put(1, 2);
      cards.beginFit('pump').goesOn({ card: fitted(3) });
      cards.rollBack('pump', true);
      await cards.close();
      open();
      const [pending] = cards.pending();
      assert.equal(cards.beginFit('pump', pending).done(pending!.card).inCharge.version, 1);
    });

    it('of fits that went on past a restart, the one that began last takes charge', async () => {
      const [first, second, third] = [1, 2, 3].map(() => cards.beginFit('pump'));
      second!.goesOn({ card: fitted(2) });
      third!.goesOn({ card: fitted(3) });
      first!.goesOn({ card: fitted(1) });
      await cards.close();
      open();
      const pending = cards.pending();
      assert.deepEqual(
        pending.map(({ card }) => card.fitted_train_set_id),
        ['fitted-1', 'fitted-2', 'fitted-3'],
      );
      const takenUp = pending.map((fit) => ({ fit, underWay: cards.beginFit('pump', fit) }));
      takenUp.toReversed().forEach(({ fit, underWay }) => underWay.done(fit.card));
      assert.equal(idOf('pump'), 'fitted-3');
      assert.deepEqual(
        cards.get('pump')!.versions.map(({ why }) => why),
        ['late', 'late', 'first'],
      );
    });

    for (const [when, order] of [
      ['before a later one has taken charge', ['goes on', 'later one']],
      ['after it', ['later one', 'goes on']],
    ] as const) {
      it(`a fit of which the service says ${when} that it goes on does not replace it after a restart`, async () => {
        const [first, second] = [cards.beginFit('pump'), cards.beginFit('pump')];
        for (const step of order) {
          if (step === 'goes on') {
            first.goesOn({ card: fitted(1) });
          } else {
            second.done(fitted(2));
          }
        }
        await cards.close();
        open();
        const [pending] = cards.pending();
        assert.equal(pending?.card.fitted_train_set_id, 'fitted-1');
        cards.beginFit('pump', pending).done(pending.card);
        assert.equal(idOf('pump'), 'fitted-2');
      });
    }

    it('a file of before there were versions holds the first of each name, and ids to remove', async () => {
      await cards.close();
      const former = [{ fitted: 'fitted-1', upload: 'upload-1' }];
      const models = [{ card: fitted(2), fingerprint: 'print-2', former }];
      writeFileSync(file, JSON.stringify({ version: 1, services: { embedded: { models } } }));
      open();
      assert.deepEqual(kept(), [1]);
      assert.equal(cards.get('pump')?.versions[0]?.why, 'first');
      assert.deepEqual(released(), ['fitted-1']);
      put(3);
      assert.deepEqual(kept(), [2, 1]);
    });
  });
});
