import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepPort, keptPort } from './keptPort.ts';

test('a port that is kept is there next time; a file that is missing or spoilt holds none', () => {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-port-'));
  const file = join(directory, 'api-port');
  try {
    expect(keptPort(file)).toBeUndefined();
    keepPort(file, 41234);
    expect(keptPort(file)).toBe(41234);
    for (const text of ['', '0', '99999', 'port']) {
      writeFileSync(file, text);
      expect(keptPort(file)).toBeUndefined();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
