/**
 * The buses under test, and the functions that their tests share.
 */

import { expect } from "vitest";
import { atMost } from "#test/read-limit";
import type { Bus, Message, Position } from "../../../src/backends/index.ts";

/** One implementation of a bus, with the server that stores its messages. */
export interface BusFixture {
  /** Opens the bus as another process would. The memory bus is always the same one. */
  open(): Bus;
  /** Opens a bus that stores fewer than 200 messages of 1 KB. */
  openSmall(): Bus;
  /** Deletes all stored messages, as a restart without persistence does. Returns a bus that works afterwards. */
  loseMessages(): Promise<Bus>;
  stop(): Promise<void>;
}

/** The open buses of one implementation: two by default, as in two processes, and more if a test opens them. */
export class OpenBuses {
  readonly bus: Bus;
  readonly other: Bus;
  readonly #fixture: BusFixture;
  readonly #all: Bus[] = [];

  constructor(fixture: BusFixture) {
    this.#fixture = fixture;
    this.bus = this.open();
    this.other = this.open();
  }

  /** Opens one more. The memory bus is always the same one. */
  open(): Bus {
    return this.#add(this.#fixture.open());
  }

  /** Opens one that stores few messages. */
  openSmall(): Bus {
    return this.#add(this.#fixture.openSmall());
  }

  /** Deletes all stored messages, for all tests that follow. Returns a bus that works afterwards. */
  async lose(): Promise<Bus> {
    return this.#add(await this.#fixture.loseMessages());
  }

  async close(): Promise<void> {
    for (const bus of this.#all) await bus.close();
  }

  #add(bus: Bus): Bus {
    this.#all.push(bus);
    return bus;
  }
}

let channels = 0;

/** Returns the name of a channel that no other test uses. */
export const uniqueChannel = () => `room:${++channels}`;

/** Returns the current end of one channel. */
export async function endOf(bus: Bus, channel: string): Promise<Position> {
  const [end] = await whenResponding(() => bus.position([channel]));
  if (end === undefined) throw new Error(`The bus returned no position for the channel ${channel}.`);
  return end;
}

/**
 * Repeats an operation of a bus that has ended because the bus did not respond within its two seconds: on a busy machine,
 * a server that was restarted may need longer.
 */
export async function whenResponding<T>(operation: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!/did not respond within/.test(String(error))) throw error;
    }
  }
}

/** Reads all messages after a position. Fails at a gap, and if a read returns more messages than its limit. */
export async function readAll(bus: Bus, channel: string, after: Position, limit = 100): Promise<Message[]> {
  const all: Message[] = [];
  for (let from = after; ; ) {
    const { messages, gap, end, more } = await whenResponding(() => bus.read(channel, from, atMost(limit)));
    expect(gap, `a gap after ${from}, where the end is ${end}`).toBe(false);
    expect(messages.length).toBeLessThanOrEqual(limit);
    all.push(...messages);
    if (!more) return all;
    expect(end, "the end has to move while there are more messages").not.toBe(from);
    from = end;
  }
}

export const dataOf = (messages: readonly Message[]) => messages.map(({ data }) => data);

/** Publishes the numbers from 0 without waiting in between. Returns their positions. */
export async function publishNumbers(bus: Bus, channel: string, count: number): Promise<Position[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => bus.publish(channel, String(number))));
}
