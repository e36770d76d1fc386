import { findShare } from '#db/shares.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareState } from './shareState.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** An admin whose transactions begin late: something else has been done by then. */
function lateAdmin(share: WorldShare, meanwhile: () => Promise<unknown>): Ctx {
  const ctx = world.caller({ projectId: share.projectId, roles: ['admin', 'member', 'reader'] });
  const { db } = ctx;
  const transaction = db.transaction.bind(db);
  db.transaction = async (work) => {
    await meanwhile();
    return transaction(work);
  };
  return ctx;
}

/** A share that waits for the scheduler, and what the scheduler does to it. */
async function unplaced() {
  const share = await world.share({ status: 'creating' });
  const [{ host }] = (await world.db
    .rows`SELECT host FROM share_instances WHERE id = ${share.instanceId}`) as [{ host: string }];
  const placeOn = (where: string | null) =>
    world.db.run`UPDATE share_instances SET host = ${where} WHERE id = ${share.instanceId}`;
  await placeOn(null);
  return { share, place: () => placeOn(host) };
}

const forceDelete = (ctx: Ctx, { id }: WorldShare) =>
  shareState.forceDeleteShare({ ctx, path: { id }, query: {}, body: null as never });

test('a share that is placed while its deletion is on the way is removed from its back end too', async () => {
  const { share, place } = await unplaced();
  await forceDelete(lateAdmin(share, place), share);
  expect(await findShare(world.db, share.id)).toMatchObject({ status: 'deleting' });
  expect(await world.work(share.id)).toEqual(['share.delete']);
  expect(await findShare(world.db, share.id)).toBeUndefined();
  expect((await world.usage(share.projectId)).shares).toEqual([0, 0]);
});

test('a share that was never placed is gone at once, once', async () => {
  const { share } = await unplaced();
  const caller = lateAdmin(share, async () => undefined);
  const ends = await Promise.allSettled(Array.from({ length: 4 }, () => forceDelete(caller, share)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await world.work(share.id)).toEqual([]);
  expect((await world.usage(share.projectId)).shares).toEqual([0, 0]);
});
