/**
 * The two services that are compared. Each has a world of its own, of fresh projects: the same things by the same
 * names, so that a request with names means the same to both.
 */
import { play } from '../recorder/record.ts';
import type { Answer } from '../replayer/comparison.ts';
import { freshIdentities, type Identities, identityNames } from '../replayer/identities.ts';
import type { RecordedRequest } from '../replayer/recordings.ts';
import { toWire } from '../replayer/runner.ts';
import type { Bindings } from '../replayer/templating.ts';
import type { Wire } from '../replayer/wire.ts';
import { stepsFor, thingsFor } from './things.ts';

/** What one service has of a world. */
class Side {
  readonly #wire: Wire;
  readonly #identities: Identities = freshIdentities();
  readonly #bindings: Bindings = identityNames(this.#identities);
  readonly #made = new Set<number>();

  constructor(wire: Wire) {
    this.#wire = wire;
    this.#bindings.set('endpoint', wire.base);
  }

  /** Makes what is still missing of these things, and what they hang on. */
  async make(names: ReadonlySet<string>): Promise<void> {
    for (const [index, step] of stepsFor(names)) {
      if (this.#made.has(index)) continue;
      await play(this.#wire, step, this.#identities, this.#bindings);
      this.#made.add(index);
    }
  }

  send(request: RecordedRequest): Promise<Answer> {
    return this.#wire.send(toWire(request, this.#identities, this.#bindings));
  }
}

export interface Answers {
  reference: Answer;
  shoal: Answer;
}

/** Changes after which a world has drifted far enough. */
const MOST_CHANGES = 4;

/** One world on both sides. */
export class Pair {
  readonly #reference: Side;
  readonly #shoal: Side;
  readonly #things = new Set<string>();
  #changes = 0;
  #isNew = true;

  constructor(wires: { reference: Wire; shoal: Wire }) {
    this.#reference = new Side(wires.reference);
    this.#shoal = new Side(wires.shoal);
  }

  /** Nothing but reads were asked of it. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** Makes these things on both sides. Fails when one side refuses. */
  async make(names: ReadonlySet<string>): Promise<void> {
    await Promise.all([this.#reference.make(names), this.#shoal.make(names)]);
    for (const name of thingsFor(names)) this.#things.add(name);
  }

  async send(request: RecordedRequest): Promise<Answers> {
    const [reference, shoal] = await Promise.all([this.#reference.send(request), this.#shoal.send(request)]);
    if (request.method === 'GET') return { reference, shoal };
    this.#isNew = false;
    const once = request.method !== 'DELETE' && reference.status === shoal.status;
    // Who breaks down may do so half-way.
    if (reference.status < 300 || shoal.status < 300 || reference.status >= 500)
      this.#changes += once ? 1 : MOST_CHANGES;
    return { reference, shoal };
  }

  /** Whether it is still good for requests that speak of these things: whole, and nothing else hangs on them. */
  serves(names: ReadonlySet<string>): boolean {
    const needed = thingsFor(names);
    return this.#changes === 0 && [...this.#things].every((name) => needed.has(name));
  }

  get isWorn(): boolean {
    return this.#changes >= MOST_CHANGES;
  }
}
