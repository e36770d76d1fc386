import fc from 'fast-check';
import { cut, hull, intersect, isEmpty, minorOf, overlap, within } from './windows.ts';

test('a version is its minor number', () => {
  expect(minorOf('2.0')).toBe(0);
  expect(minorOf('2.37')).toBe(37);
  for (const wrong of ['2', '3.1', '2.07', '2.1.1', 'latest', 2.7, undefined])
    expect(minorOf(wrong)).toBeNull();
});

test('windows hold both of their ends', () => {
  const window = { since: 7, until: 44 };
  expect([6, 7, 44, 45].map((version) => within(window, version))).toEqual([false, true, true, false]);
  expect(overlap(window, { since: 44, until: 99 })).toBe(true);
  expect(overlap(window, { since: 45, until: 99 })).toBe(false);
  expect(isEmpty(intersect(window, { since: 45, until: 99 }))).toBe(true);
});

test('a window is cut where another begins or ends', () => {
  expect(cut({ since: 0, until: 99 }, [{ since: 64, until: 99 }])).toEqual([
    { since: 0, until: 63 },
    { since: 64, until: 99 },
  ]);
  expect(cut({ since: 7, until: 44 }, [{ since: 0, until: 20 }])).toEqual([
    { since: 7, until: 20 },
    { since: 21, until: 44 },
  ]);
});

test('the pieces of a window make it up again, and no other window begins or ends inside one', () => {
  const bound = fc.integer({ min: 0, max: 99 });
  const window = fc.tuple(bound, bound).map(([a, b]) => ({ since: Math.min(a, b), until: Math.max(a, b) }));
  fc.assert(
    fc.property(window, fc.array(window), (outer, inner) => {
      const pieces = cut(outer, inner);
      expect(hull(pieces)).toEqual(outer);
      pieces.slice(1).forEach((piece, i) => {
        expect(piece.since).toBe((pieces[i]?.until ?? Number.NaN) + 1);
      });
      for (const piece of pieces) {
        for (const other of inner) {
          expect(within(other, piece.since)).toBe(within(other, piece.until));
        }
      }
    }),
  );
});
