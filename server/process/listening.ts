/** Why the API can't listen where it is told to. */
import { StartError } from './startError.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there already',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'the host has no address',
  EAI_AGAIN: 'the name of the host could not be looked up',
};

/** The error of a `listen` that failed, as the operator needs it; any other error as it is. */
export function listenFailure(error: Error, host: string, port: number): Error {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (!Object.hasOwn(reasons, code)) return error;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new StartError(
    `The API can't listen on ${at}: ${reasons[code]} ([DEFAULT] osapi_share_listen, osapi_share_listen_port)`,
  );
}
