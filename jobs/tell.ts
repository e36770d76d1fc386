/** What users are told of a job: the message that a client finds by the resource's id. */
import type { Tx } from '#db/connection.ts';
import { insertMessage, type MessageAction, type MessageDetail, type NewMessage } from '#db/messages.ts';
import type { Run } from './job.ts';

/** Whom it is for, and about what. */
type About = Pick<NewMessage, 'projectId' | 'resourceType' | 'resourceId'>;

export function tell(
  tx: Tx,
  run: Run,
  about: About,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  const message = { ...about, requestId: run.requester.requestId, action, detail };
  return insertMessage(tx, message, run.tools.settings.message_ttl);
}
