/** Which steps of the world's script make the things of some names: those alone, so that little hangs on them. */
import type { Step } from '../recorder/record.ts';
import { world } from '../recorder/world.ts';
import { namesIn } from '../replayer/templating.ts';

const isThing = (name: string) => !/^(project|user)_|^endpoint$/.test(name);

/** What no name in a step tells: a share server comes into being for a share. */
const hidden: Readonly<Record<string, readonly string[]>> = { share_server_1: ['share_2'] };

const script = world.map((step) => {
  const gives = Object.keys(step.captures ?? {});
  const named = [...namesIn(step.request.path), ...namesIn(step.request.body)].filter(isThing);
  return { step, gives, uses: [...named, ...gives.flatMap((name) => hidden[name] ?? [])] };
});

/** The names of all things. */
export const allThings: ReadonlySet<string> = new Set(script.flatMap(({ gives }) => gives));

/** These things and all that they hang on. Names of identities need none. */
export function thingsFor(names: ReadonlySet<string>): Set<string> {
  const needed = new Set([...names].filter(isThing));
  const unknown = [...needed].filter((name) => !allThings.has(name));
  if (unknown.length > 0) throw new Error(`no step of the world makes ${unknown.join(', ')}`);
  for (const { gives, uses } of script.toReversed())
    if (gives.some((name) => needed.has(name))) for (const name of uses) needed.add(name);
  return needed;
}

/** What makes them, in its order, with places in the script. */
export function stepsFor(names: ReadonlySet<string>): [index: number, step: Step][] {
  const needed = thingsFor(names);
  return script.flatMap(({ step, gives, uses }, index): [number, Step][] => {
    // A step that gives nothing waits for things, or adds to them.
    const isNeeded = (name: string) => needed.has(name);
    const wanted = gives.length > 0 ? gives.some(isNeeded) : uses.every(isNeeded);
    return wanted ? [[index, step]] : [];
  });
}
