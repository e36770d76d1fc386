/** Makes what handlers are given, for one request. */
import type { Db, Tx } from '#db/connection.ts';
import type { Explanation } from '#domain/explanations.ts';
import { fault } from '#domain/faults.ts';
import type { Enforcer } from '#domain/policy/enforcer.ts';
import type { Credentials, Target } from '#domain/policy/parse.ts';
import type { BackendReport } from '#domain/services.ts';
import type { PolicyName } from '#generated/policies.ts';
import { type Behaviour, behaviours } from '#generated/versions.ts';
import type { Ctx } from '#handlers/context.ts';
import type { Settings } from '#handlers/settings.ts';
import type { Caller } from '../identity/identity.ts';
import type { LinkBases, Viewer } from './projection.ts';

/** What all requests of a process share. */
export interface Shared {
  db: Db;
  settings: Settings;
  enforcer: Enforcer;
  reports(): Promise<BackendReport[]>;
  explanation(shareId: string): Promise<Explanation | null>;
}

export class RequestCtx implements Ctx, Viewer {
  readonly requestId: string;
  readonly version: number;
  readonly links: LinkBases;
  readonly url: string;
  readonly credentials: Credentials;
  readonly db: Db & { readonly statements: number };
  /** set by `answerWith` */
  status: number | undefined;
  readonly settings: Settings;
  readonly #shared: Shared;
  readonly #seen = new Map<string, boolean>();

  constructor(
    shared: Shared,
    caller: Caller,
    request: { id: string; version: number; links: LinkBases; url: string },
  ) {
    this.#shared = shared;
    this.settings = shared.settings;
    this.requestId = request.id;
    this.version = request.version;
    this.links = request.links;
    this.url = request.url;
    this.db = shared.db.counting();
    const credentials = { ...caller, isAdmin: false };
    this.credentials = { ...credentials, isAdmin: shared.enforcer.isAdmin(credentials) };
  }

  get userId(): string {
    return this.credentials.userId;
  }
  get projectId(): string {
    return this.credentials.projectId!;
  }
  get roles(): readonly string[] {
    return this.credentials.roles;
  }
  get isAdmin(): boolean {
    return this.credentials.isAdmin;
  }

  reports(): Promise<BackendReport[]> {
    return this.#shared.reports();
  }

  explanation(shareId: string): Promise<Explanation | null> {
    return this.#shared.explanation(shareId);
  }

  allows(behaviour: Behaviour): boolean {
    const { since, until } = behaviours[behaviour] as { since: number; until: number };
    return this.version >= since && this.version <= until;
  }

  can(policy: PolicyName, target: Target = { project_id: this.projectId, user_id: this.userId }): boolean {
    return this.#shared.enforcer.allows(policy, this.credentials, target);
  }

  authorize(policy: PolicyName, target?: Target): void {
    if (!this.can(policy, target)) throw fault('forbidden', { action: policy });
  }

  /** Visibility of fields: asked for many objects, answered once a request. */
  sees(rule: PolicyName | 'admin'): boolean {
    if (rule === 'admin') return this.isAdmin;
    let answer = this.#seen.get(rule);
    if (answer === undefined) {
      answer = this.can(rule);
      this.#seen.set(rule, answer);
    }
    return answer;
  }

  answerWith(status: number): void {
    this.status = status;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.transaction(work);
  }
}
