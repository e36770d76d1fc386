/** The one renderer of refusals: `{"<faultName>": {"code": N, "message": "…"}}`, or plain for unmatched paths. */
import type { Fault } from '#domain/faults.ts';

const names: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  501: 'notImplemented',
  503: 'serviceUnavailable',
};

/** The body of a refusal, as the API writes it; any status without a name of its own is a computeFault. */
export function faultBody(fault: Fault): string {
  const retry = fault.retryAfter === undefined ? {} : { retryAfter: String(fault.retryAfter) };
  return JSON.stringify({
    [names[fault.status] ?? 'computeFault']: { code: fault.status, message: fault.message, ...retry },
  });
}

/** What no route matches: `{"message", "code", "title"}`, in the router's own form. */
export function plainBody(code: number, title: string, message: string): string {
  return JSON.stringify({ message, code: `${code} ${title}`, title });
}

export function unauthorizedBody(message: string): string {
  return JSON.stringify({ error: { code: 401, title: 'Unauthorized', message } });
}
