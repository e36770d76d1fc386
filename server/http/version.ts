/** The microversion header: read, refused or defaulted. Versions are minor numbers, the major is always 2. */
import { fault } from '#domain/faults.ts';
import { MAX_VERSION, MIN_VERSION } from '#generated/versions.ts';

export const VERSION_HEADER = 'X-OpenStack-Manila-API-Version';
export const EXPERIMENTAL_HEADER = 'X-OpenStack-Manila-API-Experimental';

const FORM = /^([1-9]\d*)\.(0|[1-9]\d*)$/;

/** Is this MAJOR.MINOR, whatever the numbers? */
export function isVersion(header: string): boolean {
  return FORM.test(header);
}

/** The version asked for; no header is the oldest. Throws 400 for a malformed one and 406 outside the range. */
export function readVersion(header: string | undefined): number {
  if (header === undefined) return MIN_VERSION;
  const match = FORM.exec(header);
  if (!match) throw fault('invalidVersionHeader', { version: header });
  const minor = Number(match[2]);
  if (match[1] !== '2' || minor < MIN_VERSION || minor > MAX_VERSION) {
    throw fault('unacceptableVersion', { version: header, min: MIN_VERSION, max: MAX_VERSION });
  }
  return minor;
}
