/** Times as clients write them in filters: ISO 8601 in its forms, UTC where no zone is said. */
import { fault } from './faults.ts';

const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,6})\d*)?)?)?(?: ?(?:Z|([+ -])(\d\d):?(\d\d)?))?$/i;

/** Reads a time; answers it as times are stored, `2026-01-31T12:00:00.000000` in UTC. Throws 400 for anything else. */
export function readTime(value: string, where: string): string {
  const match = ISO.exec(value.trim());
  const [
    ,
    year,
    month,
    day,
    hour = '00',
    minute = '00',
    second = '00',
    fraction = '',
    sign,
    hours = '0',
    minutes = '0',
  ] = match ?? [];
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const local = new Date(`${written}Z`);
  // A date that rolls over, as February 30th does, is none.
  if (!match || Number.isNaN(local.getTime()) || local.toISOString().slice(0, 19) !== written) {
    throw fault('invalidQuery', {
      where,
      reason: `must be a time like 2026-01-31T12:00:00, not ${JSON.stringify(value)}`,
    });
  }
  // A plus sign that a client left bare in a URL arrives as a space.
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  return `${new Date(local.getTime() - offset).toISOString().slice(0, -5)}.${fraction.padEnd(6, '0')}`;
}
