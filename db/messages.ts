/** User messages: what went wrong, for those who asked for it. Written by jobs, read and dismissed through the API. */
import { randomUUID } from 'node:crypto';
import type { Order, Page } from '#domain/paging.ts';
import { messageActions, messageDetails } from '#generated/messages.ts';
import type { Queries } from './connection.ts';
import { limited, ordered } from './paging.ts';
import { and, int, sql } from './sql.ts';

export type MessageAction = keyof typeof messageActions;
export type MessageDetail = keyof typeof messageDetails;

export interface NewMessage {
  projectId: string;
  requestId: string;
  resourceType:
    | 'SHARE'
    | 'SHARE_SNAPSHOT'
    | 'SHARE_GROUP'
    | 'SHARE_REPLICA'
    | 'SECURITY_SERVICE'
    | 'SHARE_NETWORK_SUBNET';
  resourceId: string;
  action: MessageAction;
  detail: MessageDetail;
  level?: 'ERROR' | 'INFO';
}

/** Writes a message that goes away `ttl` seconds from now. */
export async function insertMessage(db: Queries, message: NewMessage, ttl: number): Promise<void> {
  await db.run`
    INSERT INTO messages (id, project_id, request_id, resource_type, resource_id, action_id, detail_id, message_level, created_at, deleted, expires_at)
    VALUES (${randomUUID()}, ${message.projectId}, ${message.requestId}, ${message.resourceType}, ${message.resourceId},
      ${messageActions[message.action].id}, ${messageDetails[message.detail].id}, ${message.level ?? 'ERROR'},
      UTC_TIMESTAMP(6), 'False', UTC_TIMESTAMP() + INTERVAL ${int(ttl)} SECOND)`;
}

/** Soft-deletes messages past their time; answers how many. */
export async function expireMessages(db: Queries): Promise<number> {
  const { affected } = await db.run`
    UPDATE messages SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE deleted = 'False' AND expires_at < UTC_TIMESTAMP()`;
  return affected;
}

export interface MessageRow {
  id: string;
  project_id: string;
  request_id: string | null;
  resource_type: string | null;
  resource_id: string | null;
  action_id: string;
  detail_id: string | null;
  message_level: string;
  created_at: string;
  expires_at: string | null;
}

const columns = sql`id, project_id, request_id, resource_type, resource_id, action_id, detail_id, message_level, created_at, expires_at`;

/** This column has whole seconds; the API writes all times alike. */
function messageRow(raw: MessageRow): MessageRow {
  return raw.expires_at === null ? raw : { ...raw, expires_at: `${raw.expires_at}.000000` };
}

export async function findMessage(db: Queries, id: string): Promise<MessageRow | undefined> {
  const raw =
    await db.row<MessageRow>`SELECT ${columns} FROM messages WHERE id = ${id} AND deleted = 'False'`;
  return raw && messageRow(raw);
}

const sortColumns = {
  created_at: sql`created_at`,
  id: sql`id`,
  project_id: sql`project_id`,
  request_id: sql`request_id`,
  resource_type: sql`resource_type`,
  resource_id: sql`resource_id`,
  action_id: sql`action_id`,
  detail_id: sql`detail_id`,
  message_level: sql`message_level`,
  expires_at: sql`expires_at`,
  updated_at: sql`updated_at`,
} as const;

export const messageSortKeys = Object.keys(sortColumns);

/** What the list is narrowed by; undefined narrows nothing. */
export interface MessageQuery {
  projectId: string | null;
  equal: Partial<
    Record<
      'request_id' | 'resource_type' | 'resource_id' | 'action_id' | 'detail_id' | 'message_level',
      string
    >
  >;
  since?: string;
  before?: string;
  order: Order;
  page: Page;
}

/** A page of messages; `projectId` null: of all projects. */
export async function listMessages(db: Queries, query: MessageQuery): Promise<MessageRow[]> {
  const { projectId, equal, since, before, order, page } = query;
  const where = [
    ...(projectId === null ? [] : [sql`project_id = ${projectId}`]),
    ...Object.entries(equal).map(
      ([key, value]) => sql`${sortColumns[key as keyof typeof sortColumns]} = ${value}`,
    ),
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(before === undefined ? [] : [sql`created_at <= ${before}`]),
  ];
  const rows = await db.rows<MessageRow>`
    SELECT ${columns} FROM messages WHERE deleted = 'False'${and(where)}
    ${ordered(sortColumns, order)} ${limited(page)}`;
  return rows.map(messageRow);
}

/** Soft-deletes the message; false when it is gone already. */
export async function deleteMessage(db: Queries, id: string): Promise<boolean> {
  const { affected } = await db.run`
    UPDATE messages SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
  return affected > 0;
}
