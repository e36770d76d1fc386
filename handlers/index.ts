/** Every operation's handler. One that is missing, or has the wrong type, doesn't compile. */
import type { Handlers } from './request.ts';
import { shareResize } from './shareResize.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';

export const handlers = {
  ...shares,
  ...shareResize,
  ...shareState,
} satisfies Partial<Handlers> as unknown as Handlers;
