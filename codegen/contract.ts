/**
 * The contract as the generator sees it: what openapi/ says, with every default filled in. read.ts
 * makes it, check.ts judges it, the emitters and openapi.ts only read it.
 */
import type { Window } from './windows.ts';

export type JsonSchema = { [key: string]: unknown };

export interface ValueMap extends Window {
  readonly map: Readonly<Record<string, string | null>>;
}

/** One field of an object, in one window of versions. */
export interface Field extends Window {
  readonly name: string;
  /** The handlers' name for it, when it differs. */
  readonly from: string | null;
  readonly visibleTo: string | null;
  readonly values: readonly ValueMap[];
  /** The collection whose self and bookmark links the field holds. */
  readonly links: string | null;
  readonly optional: boolean;
  /** Requests of other versions that have the field are refused; else the field is dropped. */
  readonly refused: boolean;
  /** What responses show when the handler's object lacks the field; null unless given. */
  readonly fallback: unknown;
  /** Its JSON Schema, without the x- keys; references are `#/Name`. */
  readonly schema: JsonSchema;
}

export interface ObjectSchema {
  readonly kind: 'object';
  readonly name: string;
  readonly file: string;
  readonly fields: readonly Field[];
  /** Fields that a request must have. */
  readonly required: readonly string[];
  /** A request may have no other fields. */
  readonly closed: boolean;
}

/** A schema that is the same at all versions, written as JSON Schema. */
export interface PlainSchema {
  readonly kind: 'plain';
  readonly name: string;
  readonly file: string;
  readonly schema: JsonSchema;
}

export type Schema = ObjectSchema | PlainSchema;

export interface Spelling extends Window {
  readonly path: string;
}

export interface ActionName extends Window {
  readonly name: string;
}

export interface RequestBody {
  /** The key that holds the entity; null when the body (or the action's value) is the entity. */
  readonly key: string | null;
  /** Another key that is taken in its place. */
  readonly also: string | null;
  readonly schema: JsonSchema;
}

/** One top-level key of a response; the key `.` is the body itself. */
export interface ResponseKey extends Window {
  readonly key: string;
  readonly from: string | null;
  readonly list: boolean;
  readonly optional: boolean;
  readonly schema: JsonSchema;
}

export interface Operation extends Window {
  readonly id: string;
  readonly file: string;
  readonly resource: string;
  /** Stands in documents only: the server answers it without a handler. */
  readonly documentOnly: boolean;
  /** Its file is `x-planned`: it is read and checked, and nothing is made of it yet. */
  readonly planned: boolean;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly paths: readonly Spelling[];
  readonly actions: readonly ActionName[] | null;
  readonly experimental: readonly Window[];
  readonly policy: string | null;
  readonly success: number;
  readonly missing: 400 | 422;
  readonly summary: string;
  readonly description: string | null;
  readonly query: JsonSchema | null;
  readonly request: RequestBody | null;
  readonly response: readonly ResponseKey[] | null;
}

export interface Verb {
  readonly method: string;
  readonly path: string;
  readonly action?: string;
}

export interface Policy {
  readonly check: string;
  readonly scopes: readonly string[] | null;
  readonly deprecated?: { readonly name: string; readonly check: string };
}

export interface MessageCode {
  readonly id: string;
  readonly text: string;
}

export interface Behaviour extends Window {
  readonly note: string;
}

export interface Contract {
  readonly range: Window;
  readonly behaviours: Readonly<Record<string, Behaviour>>;
  readonly policies: Readonly<Record<string, Policy>>;
  readonly actions: Readonly<Record<string, MessageCode>>;
  readonly details: Readonly<Record<string, MessageCode>>;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly operations: readonly Operation[];
  /** What each file of operations is about: the first comment in it. */
  readonly tags: Readonly<Record<string, string>>;
  readonly unimplemented: readonly Verb[];
}

/** The operations that handlers serve. */
export const handled = (contract: Contract): Operation[] =>
  contract.operations.filter((operation) => !operation.documentOnly && !operation.planned);
