import { messageText } from './messages.ts';

test('ids are told in words, also those that nobody knows', () => {
  expect(messageText('001', '009')).toMatch(/^Choose a back end.*: No back end has enough free capacity/);
  expect(messageText('999', '999')).toMatch(/^\w.*: \w/);
  expect(messageText('001', null)).toMatch(/^Choose.*: \w/);
});
