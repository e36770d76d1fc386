/** What a handler is given beside the request itself: who calls, at which version, the database, what it may. */
import type { Db, Tx } from '#db/connection.ts';
import type { Explanation } from '#domain/explanations.ts';
import type { Credentials, Target } from '#domain/policy/parse.ts';
import type { BackendReport } from '#domain/services.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Behaviour } from '#generated/versions.ts';
import type { Settings } from './settings.ts';

export interface Ctx {
  /** `req-…`, repeated in the response, in logs and by the jobs that follow */
  readonly requestId: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
  readonly isAdmin: boolean;
  readonly credentials: Credentials;
  /** minor version asked for; handlers ask `allows`, they don't compare it */
  readonly version: number;
  /** what links begin with; `self` is for those that handlers make themselves (`<resource>_links`) */
  readonly links: { readonly self: string; readonly bookmark: string };
  /** the request's path and query as sent, for the same */
  readonly url: string;
  readonly db: Db;
  readonly settings: Settings;
  /** The last capability report of every back end, as the workers sent them. */
  reports(): Promise<BackendReport[]>;
  /** Why the scheduler last placed the share where it did, or nowhere; null when that isn't known (any more). */
  explanation(shareId: string): Promise<Explanation | null>;
  /** Is this behaviour of the contract's versions.yaml in force at the caller's version? */
  allows(behaviour: Behaviour): boolean;
  /** Does the policy admit the caller on this object (the caller's own project when none is given)? */
  can(policy: PolicyName, target?: Target): boolean;
  /** As `can`, but throws 403. */
  authorize(policy: PolicyName, target?: Target): void;
  /** Answers this HTTP status in place of the operation's own, where the outcome has one of its own. */
  answerWith(status: number): void;
  /** One transaction; jobs begun in it are sent once it is committed. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}
