/** User messages: what went wrong, for those who asked for it. Written by jobs. */
import { randomUUID } from 'node:crypto';
import { messageActions, messageDetails } from '#generated/messages.ts';
import type { Queries } from './connection.ts';
import { int } from './sql.ts';

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
