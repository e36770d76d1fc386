/**
 * Who sends a request. Recordings name identities (`demo`, `admin`); each replayed scenario gets fresh ids for them,
 * so that it starts with empty projects and full quotas.
 */
import { randomBytes } from 'node:crypto';

export interface Identity {
  user: string;
  project: string;
  roles: readonly string[];
}

export type Identities = Readonly<Record<string, Identity>>;

const member = ['member', 'reader'];

/** The identities of one scenario. `reader`, `other` and `nobody` are users of demo's project. */
export function freshIdentities(): Identities {
  const id = () => randomBytes(16).toString('hex');
  const demo = { user: id(), project: id(), roles: member };
  return {
    demo,
    admin: { user: id(), project: id(), roles: ['admin', ...member] },
    alt: { user: id(), project: id(), roles: member },
    reader: { user: id(), project: demo.project, roles: ['reader'] },
    other: { user: id(), project: demo.project, roles: member },
    nobody: { user: id(), project: demo.project, roles: [] },
  };
}

/** The token that a server without an identity service takes at its word. */
export function tokenOf(identity: Identity): string {
  return `${identity.user}:${identity.project}:${identity.roles.join(',')}`;
}

/** The names under which recordings speak of the ids: `project_demo`, `user_demo`. */
export function identityNames(identities: Identities): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, identity] of Object.entries(identities)) {
    names.set(`project_${name}`, identity.project);
    names.set(`user_${name}`, identity.user);
  }
  return names;
}
