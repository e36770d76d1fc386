/** Why the scheduler placed a share where it did, or nowhere. */
import { fault } from '#domain/faults.ts';
import { messageDetails } from '#generated/messages.ts';
import type { Handlers } from './request.ts';

const details: Readonly<Record<string, { id: string }>> = messageDetails;

export const explanations = {
  async explainScheduling({ ctx, query }) {
    const shareId = query.share_id;
    const found = await ctx.explanation(shareId).catch(() => {
      throw fault('unavailable', { reason: 'explanations can not be read now' });
    });
    if (!found) return { explanations: [] };
    const { at, host, detail, pools } = found;
    const detailId = detail === null ? null : (details[detail]?.id ?? null);
    return { explanations: [{ share_id: shareId, created_at: at, host, detail_id: detailId, pools }] };
  },
} satisfies Partial<Handlers>;
