import type { Logger } from "../../logging/index.ts";
import type { Entry, Progress } from "./bus.ts";

/** One call of `watch`. An object of its own, because one function can listen twice, and each is removed by itself. */
interface Watch<Event> {
  readonly listener: (event?: Event) => void;
}

/**
 * The listeners of a bus, by topic. A topic is the name by which the server delivers the messages of one channel: a
 * pub/sub channel of Redis, a subject of NATS.
 */
export class TopicListeners<Event = Entry | Progress> {
  readonly #topics = new Map<string, Set<Watch<Event>>>();

  /** The topics that have a listener. */
  get topics(): IterableIterator<string> {
    return this.#topics.keys();
  }

  /** Returns whether a topic has a listener. */
  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /**
   * Adds a listener to a topic.
   *
   * @returns a function that removes it. Its first call returns true, any later one false.
   */
  add(topic: string, listener: Watch<Event>["listener"]): () => boolean {
    const watches = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, watches);
    const watch = { listener };
    watches.add(watch);
    return () => {
      const wasAdded = watches.delete(watch);
      if (watches.size === 0 && this.#topics.get(topic) === watches) this.#topics.delete(topic);
      return wasAdded;
    };
  }

  /** Passes an event to the listeners of a topic; without one, they have to read from the bus. */
  deliver(topic: string, event?: Event): void {
    for (const { listener } of this.#topics.get(topic) ?? []) listener(event);
  }

  /** Calls all listeners without an event, because messages may have been missed. */
  deliverMissed(): void {
    for (const topic of this.#topics.keys()) this.deliver(topic);
  }

  /** Removes all listeners. */
  clear(): void {
    for (const watches of this.#topics.values()) watches.clear();
    this.#topics.clear();
  }
}

/** Logs that a bus has received data that no bus wrote: once, because a server may send any number of them. */
export class ForeignDataLog {
  readonly #log: Logger;
  readonly #fields: Readonly<Record<string, string>>;
  #hasLogged = false;

  /** @param fields identify the server, without user name and password */
  constructor(log: Logger, fields: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#fields = fields;
  }

  /** @param location where the data was, for example the name of a key. The data are not logged. */
  report(location: string): void {
    if (this.#hasLogged) return;
    this.#hasLogged = true;
    this.#log.warn(
      { ...this.#fields, location },
      "Another program writes to the bus; its data is ignored. Give each application a namespace of its own",
    );
  }
}
