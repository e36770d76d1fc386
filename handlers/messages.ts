/** User messages: those of the caller's project; administrators see all projects'. */
import { deleteMessage, findMessage, listMessages, type MessageRow, messageSortKeys } from '#db/messages.ts';
import { fault } from '#domain/faults.ts';
import { messageText } from '#domain/messages.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { readTime } from '#domain/timeFilters.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';

const filters = [
  'request_id',
  'resource_type',
  'resource_id',
  'action_id',
  'detail_id',
  'message_level',
] as const;

export const messages = {
  async listMessages({ ctx, query }) {
    const { created_since, created_before } = query;
    const most = ctx.settings.osapi_max_limit;
    const rows = await listMessages(ctx.db, {
      projectId: ctx.isAdmin ? null : ctx.projectId,
      equal: Object.fromEntries(
        filters.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]]])),
      ),
      ...(created_since === undefined ? {} : { since: readTime(created_since, 'created_since') }),
      ...(created_before === undefined ? {} : { before: readTime(created_before, 'created_before') }),
      order: readOrder(query, messageSortKeys),
      page: readPage(query, most),
    });
    const links = nextLinks(ctx, 'messages', rows, most);
    return { messages: rows.map(shown), ...(links ? { messages_links: links } : {}) };
  },

  async getMessage({ ctx, path }) {
    return { message: shown(await visibleMessage(ctx, path.id)) };
  },

  async deleteMessage({ ctx, path }) {
    const message = await visibleMessage(ctx, path.id);
    ctx.authorize('message:delete', { project_id: message.project_id });
    if (!(await deleteMessage(ctx.db, message.id))) throw fault('messageNotFound', { id: path.id });
  },
} satisfies Partial<Handlers>;

/** Another project's message is not there. */
async function visibleMessage(ctx: Ctx, id: string): Promise<MessageRow> {
  const message = await findMessage(ctx.db, id);
  if (!message || !ctx.can('message:get', { project_id: message.project_id }))
    throw fault('messageNotFound', { id });
  return message;
}

function shown(row: MessageRow): Schemas['Message'] {
  return { ...row, user_message: messageText(row.action_id, row.detail_id) } as Schemas['Message'];
}
