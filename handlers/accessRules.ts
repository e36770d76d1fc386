/** Access rules by themselves: lists, one, changes of level and metadata. */
import {
  type AccessRuleRow,
  findAccessRule,
  listAccessRules,
  lockAccessRule,
  accessRuleMetadata as metadataTable,
  queueUpdate,
} from '#db/accessRules.ts';
import { mergeMetadata, removeMetadataItem } from '#db/metadata.ts';
import { findShare, type ShareRow } from '#db/shares.ts';
import { accessLevels, accessTypes, readLevel, readRuleMetadata } from '#domain/accessRules.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import type { Handlers, Request } from './request.ts';
import { changeableShare, lockedInstances, queueSync } from './shareAccess.ts';
import { isHidden, isVisible, ownerOf, shownRule } from './shownAccess.ts';

export const accessRules = {
  async listAccessRules({ ctx, query }) {
    const filter = readFilter(query);
    const share = await listedShare(ctx, query.share_id);
    const rules = await listAccessRules(ctx.db, share.id, filter);
    // What a filter on it finds would tell what is hidden.
    const tells = filter.accessTo !== undefined || filter.accessKey !== undefined;
    const seen = tells ? rules.filter((rule) => !isHidden(ctx, rule)) : rules;
    return { access_list: seen.map((rule) => shownRule(ctx, share, rule)) };
  },

  async getAccessRule({ ctx, path }) {
    const { rule, share } = await visibleRule(ctx, path.id);
    return { access: shownRule(ctx, share, rule) };
  },

  async updateAccessRule({ ctx, path, body }) {
    const level = readLevel(body.access_level);
    const { rule, share } = await visibleRule(ctx, path.id);
    await changeableShare(ctx, share.id, 'share_access_rule:update', 'opened to clients otherwise');
    if (level !== rule.access_level) {
      await ctx.transaction(async (tx) => {
        const instances = await lockedInstances(tx, share.id);
        if (!(await queueUpdate(tx, rule.id, share.id, level))) {
          throw fault('invalidAccess', { reason: `rule ${rule.id} is being denied` });
        }
        await queueSync(tx, ctx, share.id, instances);
      });
    }
    // As it was but for the level: what comes of the change is not known yet.
    return { access: { ...shownRule(ctx, share, rule), access_level: level } };
  },

  async updateAccessRuleMetadata({ ctx, path, body }) {
    const entries = readRuleMetadata(body);
    const { rule, share } = await visibleRule(ctx, path.access_id);
    ctx.authorize('share_access_metadata:update', ownerOf(share));
    await ctx.transaction(async (tx) => {
      if (!(await lockAccessRule(tx, rule.id))) throw fault('accessNotFound', { id: rule.id });
      await mergeMetadata(tx, metadataTable, rule.id, entries);
    });
    return { metadata: entries };
  },

  async deleteAccessRuleMetadataItem({ ctx, path }) {
    const { rule, share } = await visibleRule(ctx, path.access_id);
    ctx.authorize('share_access_metadata:delete', ownerOf(share));
    if (!(await ctx.transaction((tx) => removeMetadataItem(tx, metadataTable, rule.id, path.key)))) {
      throw fault('metadataNotFound', { key: path.key });
    }
  },
} satisfies Partial<Handlers>;

/** The rule and its share, if the caller may see them. */
async function visibleRule(ctx: Ctx, id: string): Promise<{ rule: AccessRuleRow; share: ShareRow }> {
  const rule = await findAccessRule(ctx.db, id);
  const share = rule && (await findShare(ctx.db, rule.share_id));
  if (!share || !isVisible(ctx, share)) throw fault('accessNotFound', { id });
  return { rule, share };
}

/** The share whose rules are listed; it has to be named, and one that isn't there is a mistake in the query. */
async function listedShare(ctx: Ctx, id: string | undefined): Promise<ShareRow> {
  if (!id) throw fault('invalidQuery', { where: 'share_id', reason: 'must be given' });
  const share = await findShare(ctx.db, id);
  if (!share || !isVisible(ctx, share)) throw fault('shareNotFound', { id }, 400);
  return share;
}

function readFilter(query: Request<'listAccessRules'>['query']) {
  const {
    access_type: accessType,
    access_to: accessTo,
    access_level: accessLevel,
    access_key: accessKey,
  } = query;
  oneOf(accessTypes, accessType, 'access_type');
  oneOf(accessLevels, accessLevel, 'access_level');
  if (accessTo !== undefined && accessType === undefined) {
    throw fault('invalidQuery', { where: 'access_to', reason: 'needs access_type beside it' });
  }
  return { accessType, accessTo, accessLevel, accessKey, metadata: readMetadataFilter(query.metadata) };
}

function oneOf(known: readonly string[], value: string | undefined, where: string): void {
  if (value === undefined || known.includes(value)) return;
  throw fault('invalidQuery', {
    where,
    reason: `must be one of ${known.join(', ')}; not ${JSON.stringify(value)}`,
  });
}

function readMetadataFilter(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  const read = readDict(text);
  if (!read)
    throw fault('invalidQuery', { where: 'metadata', reason: 'must be an object, as in {"key": "value"}' });
  return Object.fromEntries(Object.entries(read).map(([key, value]) => [key, String(value)]));
}
