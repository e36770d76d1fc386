/** Times as the API writes them and the database keeps them: UTC, microseconds, no zone. */

/** Now, as `2026-11-29T20:00:00.123456`: what responses show and what goes into a datetime(6) column. */
export function now(offsetSeconds = 0): string {
  const micros = Math.round((performance.timeOrigin + performance.now()) * 1000) + offsetSeconds * 1e6;
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  return `${new Date(millis).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}`;
}
