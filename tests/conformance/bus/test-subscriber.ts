/**
 * A subscriber that receives the messages of one channel, as the hub of `src/live` does.
 */
import { atMost } from "#test/read-limit";
import type { Bus, Entry, Message, Position, Progress } from "../../../src/backends/index.ts";
import { endOf, whenResponding } from "./open-buses.ts";

/** Uses an entry if it continues at its position, and reads from the bus otherwise. */
export class TestSubscriber {
  readonly received: Message[] = [];
  /** For each gap, the number of messages that were received before it. */
  readonly gapIndexes: number[] = [];
  readonly #bus: Bus;
  readonly #channel: string;
  #end: Position;
  #isStale = false;
  #isReading = false;
  #stop: () => void = () => undefined;

  private constructor(bus: Bus, channel: string, end: Position) {
    this.#bus = bus;
    this.#channel = channel;
    this.#end = end;
  }

  /** Subscribes to a channel from its current end. */
  static async start(bus: Bus, channel: string): Promise<TestSubscriber> {
    const subscriber = new TestSubscriber(bus, channel, await endOf(bus, channel));
    subscriber.#stop = await whenResponding(() => bus.watch(channel, (entry) => subscriber.#receive(entry)));
    subscriber.#receive();
    return subscriber;
  }

  get gaps(): number {
    return this.gapIndexes.length;
  }

  stop(): void {
    this.#stop();
  }

  #receive(entry?: Entry | Progress): void {
    if (entry && entry.data === undefined) {
      if (!this.#isReading && entry.position > this.#end) this.#end = entry.position;
      return;
    }
    if (!entry || this.#isReading || !this.#isContinuedBy(entry)) return void this.#read();
    const { position, data } = entry;
    this.received.push({ position, data });
    this.#end = position;
  }

  #isContinuedBy({ position, after }: Entry): boolean {
    if (position <= this.#end || after === undefined) return position > this.#end;
    const lastMessage = this.received.at(-1)?.position ?? "";
    return after <= this.#end && after >= lastMessage;
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const result = await this.#bus.read(this.#channel, this.#end, atMost(50));
        if (result.gap) this.gapIndexes.push(this.received.length);
        this.received.push(...result.messages);
        this.#end = result.end;
        if (result.more) this.#isStale = true;
      } catch {
        // The bus is unreachable: retry, as the hub does.
        await new Promise((resolve) => setTimeout(resolve, 100));
        this.#isStale = true;
      }
    }
    this.#isReading = false;
  }
}
