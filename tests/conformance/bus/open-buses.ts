/**
 * A bus that is tested, and the steps that its tests share.
 */
import { expect } from "vitest";
import type { Bus, Message, Position } from "../../../src/live/bus/index.ts";

/** A bus to be tested: where its messages are, and how to get at them. */
export interface BusFixture {
  /** Opens the bus once more, as another process would; the memory bus is always the same. */
  open(): Bus;
  /** Opens a bus that holds few messages: not 200 of a kilobyte each. */
  openSmall(): Bus;
  /** Makes what the bus holds be lost, as a restart without storage does, and gives a bus that goes on. */
  lose(): Promise<Bus>;
  stop(): Promise<void>;
}

/** One bus, open for its tests as in two processes, and in more where a test asks for them. */
export class OpenBuses {
  readonly bus: Bus;
  readonly other: Bus;
  readonly #bench: BusFixture;
  readonly #all: Bus[] = [];

  constructor(bench: BusFixture) {
    this.#bench = bench;
    this.bus = this.another();
    this.other = this.another();
  }

  /** Opens it once more; the memory bus is always the same. */
  another(): Bus {
    return this.#keep(this.#bench.open());
  }

  /** Opens one that holds few messages. */
  small(): Bus {
    return this.#keep(this.#bench.openSmall());
  }

  /** Loses what it holds, for all tests that follow, and gives a bus that goes on. */
  async lose(): Promise<Bus> {
    return this.#keep(await this.#bench.lose());
  }

  async close(): Promise<void> {
    for (const each of this.#all) await each.close();
  }

  #keep(made: Bus): Bus {
    this.#all.push(made);
    return made;
  }
}

let channels = 0;

/** Names a channel that no other test has. */
export const uniqueChannel = () => `room:${++channels}`;

/** Takes the end of one channel. */
export async function endOf(bus: Bus, channel: string): Promise<Position> {
  const [end] = await bus.position([channel]);
  if (end === undefined) throw new Error("There is no position.");
  return end;
}

/** Reads to the end of what there is; fails at a gap, and where a read gives more than it may. */
export async function readAll(bus: Bus, channel: string, after: Position, limit = 100): Promise<Message[]> {
  const all: Message[] = [];
  for (let from = after; ; ) {
    const { messages, gap, end, more } = await bus.read(channel, from, limit);
    expect(gap, "a gap").toBe(false);
    expect(messages.length).toBeLessThanOrEqual(limit);
    all.push(...messages);
    if (!more) return all;
    expect(end, "the end has to move while there is more").not.toBe(from);
    from = end;
  }
}

export const dataOf = (messages: readonly Message[]) => messages.map(({ data }) => data);

/** Publishes numbers from 0, one after the other, and gives their positions. */
export async function publishNumbers(bus: Bus, channel: string, count: number): Promise<Position[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => bus.publish(channel, String(at))));
}
