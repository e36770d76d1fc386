import { encryptionKeyRef } from './encryptionKeys.ts';

const key = '11111111-1111-4111-8111-111111111111';
const able = { driver_handles_share_servers: 'True', encryption_support: 'share_server' };
const type = (extra_specs: Record<string, string>) => ({ name: 't', extra_specs });

test('a type with share servers and encryption takes a key', () => {
  expect(encryptionKeyRef(type(able), key)).toBe(key);
  expect(encryptionKeyRef(type(able), null)).toBeNull();
  expect(encryptionKeyRef(null, '')).toBeNull();
});

test.each([
  [{ ...able, encryption_support: '' }, key],
  [{ encryption_support: 'share' }, key],
  [{ ...able, driver_handles_share_servers: 'False' }, key],
  [able, 'nope'],
  [able, `${key}0`],
])('a type with %j refuses %j', (specs, asked) => {
  expect(() => encryptionKeyRef(type(specs), asked)).toThrow(expect.objectContaining({ status: 400 }));
});
