import { jest } from '@jest/globals';
import { readArguments, readWorkerArguments } from './arguments.ts';

const usage = 'Usage: node it.ts';

/** What the reader printed, and the code that it ended the process with. */
function ended(read: () => unknown): { code: unknown; out: string; err: string } {
  const told = { code: undefined as unknown, out: '', err: '' };
  const exit = jest.spyOn(process, 'exit').mockImplementation((code) => {
    told.code ??= code;
    throw new Error('ended');
  });
  const out = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    told.out += text;
    return true;
  });
  const err = jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    if (told.code === undefined) told.err += text;
    return true;
  });
  try {
    expect(read).toThrow('ended');
  } finally {
    for (const spy of [exit, out, err]) spy.mockRestore();
  }
  return told;
}

test('files and directories may be given more than once; roles are all when not said', () => {
  expect(readArguments(usage, ['--config-file', 'a', '--config-dir=d', '--config-file', 'b'])).toEqual({
    configFiles: ['a', 'b'],
    configDirs: ['d'],
  });
  expect([...readWorkerArguments(usage, []).roles]).toEqual(['scheduler', 'share', 'data']);
  expect([...readWorkerArguments(usage, ['--roles', 'data, share,data']).roles]).toEqual(['data', 'share']);
});

test.each([['--roles', 'bogus'], ['--roles', ''], ['--roles', 'share,'], ['--rolls', 'share'], ['share']])(
  'a worker refuses %j %j with its usage',
  (...args) => {
    const { code, out, err } = ended(() => readWorkerArguments(usage, args));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^.*(bogus|''|--rolls|share).*\n\nUsage: node it\.ts\n$/);
  },
);

test('the API has no roles', () => {
  expect(ended(() => readArguments(usage, ['--roles', 'share']))).toMatchObject({
    code: 2,
    err: expect.stringContaining("'--roles'"),
  });
});

test('help goes to standard output and is no failure', () => {
  expect(ended(() => readArguments(usage, ['--help']))).toEqual({ code: 0, out: `${usage}\n`, err: '' });
});
