/** Who is calling: one interface, whatever says so. */

export interface Caller {
  userId: string;
  projectId: string;
  /** lower case */
  roles: readonly string[];
  domainId?: string | null;
  systemScope?: string | null;
}

export interface Identity {
  /** What `WWW-Authenticate` of a 401 says. */
  readonly challenge: string;
  /**
   * The caller whom the token speaks for; null for no token or one that isn't valid. Throws Fault
   * `unavailable` when it can't be told now.
   */
  authenticate(token: string | undefined, requestId: string): Promise<Caller | null>;
}
