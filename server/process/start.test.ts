import { createServer } from 'node:net';
import { SchemaError } from '#db/sync.ts';
import { ConfigError } from '../config/config.ts';
import { PolicyFileError } from '../policyFile.ts';
import { databaseFailure } from './database.ts';
import { listenFailure } from './listening.ts';
import { ending } from './start.ts';
import { StartError } from './startError.ts';

test('what an operator can mend is told without a stack, the unforeseen with it', () => {
  expect(ending(new StartError('mend this'))).toEqual({ text: 'mend this', code: 1 });
  expect(ending(new SchemaError('sync it'))).toEqual({ text: 'sync it', code: 1 });
  expect(ending(new PolicyFileError('p.yaml:1: no'))).toEqual({ text: 'p.yaml:1: no', code: 2 });
  expect(ending(new ConfigError(['one'])).code).toBe(2);
  expect(ending(new TypeError('oops'))).toEqual({
    text: expect.stringMatching(/TypeError: oops\n +at /),
    code: 1,
  });
  expect(ending('thrown text')).toEqual({ text: 'thrown text', code: 1 });
});

describe('a database that can not be used', () => {
  const address = { host: 'db.example', port: 3307, user: 'shoal', password: 'hunter2', database: 'manila' };
  const failure = (code: string, over: object = {}) =>
    databaseFailure(Object.assign(new Error('hunter2'), { code }), { ...address, ...over });

  test.each([
    ['ECONNREFUSED', 'nothing listens there'],
    ['ER_ACCESS_DENIED_ERROR', 'it refuses the user shoal or the password'],
    ['ER_BAD_DB_ERROR', 'it has no database manila'],
  ])('%s: place and reason are told, the password is not', (code, reason) => {
    expect(failure(code)).toEqual(
      new StartError(`The database db.example:3307/manila can't be used: ${reason} ([database] connection)`),
    );
  });

  test('a socket and an IPv6 address are told as such', () => {
    expect(String(failure('ENOENT', { socketPath: '/run/sql.sock' }))).toContain(' /run/sql.sock/manila ');
    expect(String(failure('ETIMEDOUT', { host: '::1' }))).toContain(' [::1]:3307/manila ');
  });

  test('other errors stay as they are', () => {
    expect(failure('ER_PARSE_ERROR')).not.toBeInstanceOf(StartError);
  });
});

test('a port that is taken is told with its address and options', async () => {
  const [first, second] = [createServer(), createServer()];
  const port = await new Promise<number>((resolve) =>
    first.listen(0, '127.0.0.1', () => resolve((first.address() as { port: number }).port)),
  );
  const error = await new Promise<Error>((resolve) =>
    second.once('error', resolve).listen(port, '127.0.0.1'),
  );
  first.close();
  const told = listenFailure(error, '127.0.0.1', port);
  expect(told).toBeInstanceOf(StartError);
  expect(told.message).toContain(`127.0.0.1:${port}: another process listens there already`);
  const other = new Error('other');
  expect(listenFailure(other, '127.0.0.1', port)).toBe(other);
});
