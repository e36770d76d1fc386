/** What of an access rule a caller gets to see. */
import type { AccessRuleRow } from '#db/accessRules.ts';
import type { ShareRow } from '#db/shares.ts';
import type { Ctx } from './context.ts';

/** Whom policies ask about: a share's project and user. */
export function ownerOf({ project_id, user_id }: ShareRow) {
  return { project_id, user_id };
}

/** May the caller know of the share? Public ones are seen by all projects. */
export function isVisible(ctx: Ctx, share: ShareRow): boolean {
  return share.is_public || ctx.can('share:get', ownerOf(share));
}

const HIDDEN = '******';

/** Has somebody else locked the sight of this rule? */
export function isHidden(ctx: Ctx, rule: AccessRuleRow): boolean {
  return !rule.sight_locks.every((lock) => ctx.can('resource_lock:bypass_locked_show_action', lock));
}

/** The rule, without what is hidden from the caller; other projects never see the key, which is a secret. */
export function shownRule(ctx: Ctx, share: ShareRow, rule: AccessRuleRow): AccessRuleRow {
  if (isHidden(ctx, rule)) return { ...rule, access_to: HIDDEN, access_key: HIDDEN };
  return ctx.can('share:access_get', ownerOf(share)) ? rule : { ...rule, access_key: null };
}
