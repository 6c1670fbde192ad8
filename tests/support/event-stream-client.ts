import { expect, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import type { BodySink } from "../../src/http/index.ts";
import { EventStream } from "../../src/live/event-stream.ts";
import { FeedReader } from "../../src/live/feed-reader.ts";
import { SubscriptionHub } from "../../src/live/subscription-hub.ts";

/** A client: records what it was sent. A test controls whether it reads. */
export class FakeClient implements BodySink {
  readonly writes: string[] = [];
  /** Whether it reads everything at once. */
  isReading = true;
  state: "open" | "ended" | "destroyed" = "open";

  write(chunk: string | Uint8Array): boolean {
    expect(this.state).toBe("open");
    this.writes.push(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    return this.isReading;
  }
  end() {
    this.state = "ended";
  }
  destroy() {
    this.state = "destroyed";
  }

  /** The messages of all channels so far. */
  get messages(): unknown[] {
    return [...this.writes.join("").matchAll(/^id: [^\n]*\ndata: [^\n]+\ndata: ([^\n]+)\n\n/gm)].map(([, json = ""]) =>
      JSON.parse(json),
    );
  }

  /** The gaps so far, as `channel reason`. */
  get gaps(): string[] {
    return [...this.writes.join("").matchAll(/event: gap\ndata: ([^\n]+)\ndata: (\w+)\n\n/g)].map(
      ([, channel, reason]) => `${channel} ${reason}`,
    );
  }

  get lastId(): string {
    return [...this.writes.join("").matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  }
}

/** The event streams of one process, on a bus whose faults a test controls. */
export interface EventStreams {
  readonly bus: FaultyBus;
  readonly hub: SubscriptionHub;
  /** Opens an event stream, by default from the current positions, and as in a response to GET. */
  readonly connect: (
    channels: readonly string[],
    positions?: readonly string[],
    options?: { readonly hasShortIds?: boolean },
  ) => Promise<{ client: FakeClient; stream: EventStream; onClosed: ReturnType<typeof vi.fn> }>;
  /** Publishes messages to a channel, one after another. */
  readonly publishAll: (channel: string, messages: readonly unknown[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates a bus and a hub of subscriptions, and functions for tests of their event streams. */
export function createEventStreams(log: ConstructorParameters<typeof SubscriptionHub>[1]): EventStreams {
  const bus = createFaultyBus();
  const hub = new SubscriptionHub(bus, log);
  return {
    bus,
    hub,
    async connect(channels, positions, { hasShortIds = false } = {}) {
      const from = positions ?? (await bus.position(channels));
      const client = new FakeClient();
      const onClosed = vi.fn();
      const readers = channels.map((channel, i) => new FeedReader(channel, from[i] ?? ""));
      const stream = new EventStream(hub, client, { readers, gaps: [], hasShortIds, onClosed });
      return { client, stream, onClosed };
    },
    async publishAll(channel, messages) {
      for (const message of messages) await bus.publish(channel, JSON.stringify(message));
    },
    async close() {
      hub.close();
      await bus.close();
    },
  };
}

/** Waits until a client has received exactly these messages. */
export async function expectMessages(client: FakeClient, messages: unknown[]): Promise<void> {
  await expect.poll(() => client.messages).toEqual(messages);
}
