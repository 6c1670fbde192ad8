/**
 * A subscriber that receives the messages of one channel, as the hub of `src/live` does.
 */
import type { Bus, Message, Notification, Position } from "../../../src/live/bus/index.ts";
import { endOf } from "./open-buses.ts";

/** Uses the messages of a notification if they continue at its position, and reads from the bus otherwise. */
export class TestSubscriber {
  readonly received: Message[] = [];
  gaps = 0;
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
    subscriber.#stop = await bus.watch(channel, (notification) => subscriber.#receive(notification));
    subscriber.#receive();
    return subscriber;
  }

  stop(): void {
    this.#stop();
  }

  #receive(notification?: Notification): void {
    const messages = this.#isReading ? [] : this.#newMessages(notification);
    const last = messages.at(-1);
    if (!last) return void this.#read();
    this.received.push(...messages);
    this.#end = last.position;
  }

  #newMessages(notification?: Notification): Message[] {
    const continues = notification?.after.length === this.#end.length && notification.after <= this.#end;
    return continues ? notification.messages.filter(({ position }) => position > this.#end) : [];
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const result = await this.#bus.read(this.#channel, this.#end, 50);
        if (result.gap) this.gaps++;
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
