/**
 * Who follows a channel by its wake-ups.
 */
import type { Bus, Notification, Message, Position } from "../../../src/live/bus/index.ts";
import { endOf } from "./open-buses.ts";

/** Follows a channel as the hub does: by what comes with a wake-up where that fits, else by reading. */
export class TestSubscriber {
  readonly received: Message[] = [];
  gaps = 0;
  wakes = 0;
  fresh = 0;
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

  static async start(bus: Bus, channel: string): Promise<TestSubscriber> {
    const follower = new TestSubscriber(bus, channel, await endOf(bus, channel));
    follower.#stop = await bus.watch(channel, (fresh) => follower.#wake(fresh));
    follower.#wake();
    return follower;
  }

  stop(): void {
    this.#stop();
  }

  #wake(fresh?: Notification): void {
    this.wakes++;
    const fits = fresh && !this.#isReading && fresh.after.length === this.#end.length && fresh.after <= this.#end;
    const news = fits ? fresh.messages.filter(({ position }) => position > this.#end) : [];
    const last = news.at(-1);
    if (!last) return void this.#read();
    this.fresh++;
    this.received.push(...news);
    this.#end = last.position;
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const batch = await this.#bus.read(this.#channel, this.#end, 50);
        if (batch.gap) this.gaps++;
        this.received.push(...batch.messages);
        this.#end = batch.end;
        if (batch.more) this.#isStale = true;
      } catch {
        // The bus is away: as the hub, it asks again.
        await new Promise((resolve) => setTimeout(resolve, 100));
        this.#isStale = true;
      }
    }
    this.#isReading = false;
  }
}
