/** User messages: the words for the ids that are stored. */
import { messageActions, messageDetails } from '#generated/messages.ts';

interface Wording {
  id: string;
  text: string;
}

const byId = (table: Readonly<Record<string, Wording>>) =>
  new Map(Object.values(table).map(({ id, text }) => [id, text]));
const actions = byId(messageActions);
const details = byId(messageDetails);

/** What was being done and what went wrong. Ids that are not ours, as a taken-over database may hold, get plain words. */
export function messageText(actionId: string, detailId: string | null): string {
  return `${actions.get(actionId) ?? 'Act on the resource'}: ${details.get(detailId ?? '') ?? messageDetails.unknownError.text}`;
}
