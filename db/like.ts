/** LIKE patterns in which `%` and `_` of the text mean themselves. */

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Texts that contain this one. */
export const containing = (part: string): string => `%${literal(part)}%`;

/** Texts that begin with this one. */
export const beginningWith = (start: string): string => `${literal(start)}%`;
