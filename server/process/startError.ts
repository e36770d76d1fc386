/**
 * What keeps a process from starting that its operator can mend: a database that doesn't answer, a port in use, a
 * setting that isn't served. The message is all there is to tell: it names the place, the reason and what to set.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
