import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startTestDatabase, type TestDatabase } from './local/testing/services.ts';

const program = resolve(import.meta.dirname, '../bin/shoal-manage');
let database: TestDatabase;
let config: string;
const directory = mkdtempSync(join(tmpdir(), 'shoal-manage-'));
beforeAll(async () => {
  database = await startTestDatabase({ empty: true });
  const { host, port, user, password, database: name } = database.address;
  config = join(directory, 'shoal.conf');
  const connection = `mysql+pymysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`;
  writeFileSync(config, `[database]\nconnection = ${connection}\n`);
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await database.stop();
});

const manage = (...args: string[]) => promisify(execFile)(program, args);

test('a database is brought to the schema and says so, as text and as JSON', async () => {
  const { stdout } = await manage('--config-file', config, 'db', 'sync');
  expect(stdout).toMatch(/0001-baseline/);
  expect((await manage('--config-file', config, 'db', 'sync')).stdout).toMatch(/up to date/);
  const { stdout: version } = await manage('--format', 'json', '--config-file', config, 'db', 'version');
  expect(JSON.parse(version)).toMatchObject({ revision: 'afc3b5e1f406' });
});

test('a database that can not be used is told by its place and the reason, without the password', async () => {
  const { host, port, user } = database.address;
  const other = join(directory, 'other.conf');
  writeFileSync(other, `[database]\nconnection = mysql://${user}:hunter2@${host}:${port}/shoal\n`);
  const told = `The database ${host}:${port}/shoal can't be used: it refuses the user ${user} or the password`;
  await expect(manage('--config-file', other, 'db', 'version')).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${told} ([database] connection)\n`,
  });
});

test('help tells of the commands, and what is wrong ends with a failure and a reason', async () => {
  expect((await manage('--help')).stdout).toMatch(/db/);
  await expect(manage('db', 'synk')).rejects.toMatchObject({ stderr: expect.stringMatching(/synk/) });
  await expect(manage('--format', 'bogus', 'db', 'version')).rejects.toMatchObject({
    stderr: expect.stringMatching(/bogus.*text, json/),
  });
  await expect(manage('--config-file', '/nowhere/shoal.conf', 'db', 'version')).rejects.toMatchObject({
    stderr: expect.stringMatching(/nowhere/),
  });
});
