/** The tables that need no schemas: versions, policies, user messages. */
import type { Contract } from './contract.ts';
import { header, literal } from './printing.ts';

export function emitVersions(contract: Contract): string {
  const behaviours = Object.fromEntries(
    Object.entries(contract.behaviours).map(([name, { since, until }]) => [name, { since, until }]),
  );
  return `${header('The range of microversions (minor numbers) and the named behaviours.', 'openapi/versions.yaml')}
export const MIN_VERSION = ${contract.range.since};
export const MAX_VERSION = ${contract.range.until};

/** What changes with the microversion beyond operations and fields: in force from since to until. */
export const behaviours = ${literal(behaviours)} as const;

export type Behaviour = keyof typeof behaviours;
`;
}

export function emitPolicies(contract: Contract): string {
  return `${header('The default policy rules.', 'openapi/policies.yaml')}
export interface Policy {
  readonly check: string;
  /** null: the rule doesn't look at the scope of a token. */
  readonly scopes: readonly string[] | null;
  readonly deprecated?: { readonly name: string; readonly check: string };
}

export const policies = ${literal(contract.policies)} as const satisfies Record<string, Policy>;

export type PolicyName = keyof typeof policies;
`;
}

export function emitMessages(contract: Contract): string {
  return `${header('Codes and texts of user messages.', 'openapi/messages.yaml')}
export interface MessageCode {
  readonly id: string;
  readonly text: string;
}

/** What was being done. */
export const messageActions = ${literal(contract.actions)} as const satisfies Record<string, MessageCode>;

/** What went wrong. */
export const messageDetails = ${literal(contract.details)} as const satisfies Record<string, MessageCode>;

export type MessageAction = keyof typeof messageActions;
export type MessageDetail = keyof typeof messageDetails;
`;
}
