/**
 * A server of live updates that says exactly what the wire does, and fails when it is told to. It is
 * for tests of the browser's part; the real one has tests of its own.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Feed } from "../../src/protocol/feed.ts";
import { readFeed } from "../../src/protocol/read-feed.ts";
import { unsignedFeed } from "./unsigned-feed.ts";

/** What a browser asked for. */
export interface RecordedRequest {
  readonly kind: "live" | "poll";
  readonly channels: readonly string[];
  readonly after: string;
  readonly wait: string | null;
}

/** What stands between: answers in the place of the server. */
export type FaultHandler = (response: ServerResponse, asked: RecordedRequest) => boolean;

interface Open {
  readonly response: ServerResponse;
  readonly channels: readonly string[];
  readonly positions: number[];
}

const PREFIX = "e.";

/** The server. Its channels hold texts; the nth has the position `e.n`. */
export class FakeLiveServer {
  readonly #channels = new Map<string, string[]>();
  readonly #streams = new Set<Open>();
  readonly #polls = new Set<Open>();
  readonly #lost = new Map<string, string>();
  /** All that was asked for, oldest first. */
  readonly requests: RecordedRequest[] = [];
  /** Answers instead, where it says so. */
  onRequest: FaultHandler = () => false;

  /** Gives a feed, from now on. */
  issueFeed(channel: string): Feed<string> {
    return unsignedFeed<string>(channel, { position: `${PREFIX}${this.#texts(channel).length}` });
  }

  /** How many streams are open. */
  get openStreamCount(): number {
    return this.#streams.size;
  }

  /** How many polls wait. */
  get waitingPollCount(): number {
    return this.#polls.size;
  }

  /** Publishes texts; they go out in one write. */
  publish(channel: string, ...texts: string[]): void {
    this.#texts(channel).push(...texts);
    for (const open of this.#streams) open.response.write(this.#frames(open));
    for (const open of [...this.#polls]) if (open.channels.includes(channel)) this.#endPoll(open);
  }

  /** Loses a channel's history: whoever asks for it is told so, from now on. */
  reportGap(channel: string, reason: string): void {
    this.#lost.set(channel, reason);
    for (const open of this.#streams) this.#tell(open);
  }

  /** Cuts all that is open. */
  closeConnections(): void {
    for (const { response } of [...this.#streams, ...this.#polls]) response.destroy();
  }

  /** Answers `/__web/live` and `/__web/poll`. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? "/", "http://shop.example");
    const kind = url.pathname.endsWith("/live") ? "live" : "poll";
    const channels = url.searchParams.getAll("feed").map((feed) => readFeed(feed).channel);
    const after = url.searchParams.get("after") ?? "";
    const asked = { kind, channels, after, wait: url.searchParams.get("wait") } as const;
    this.requests.push(asked);
    if (this.onRequest(response, asked)) return;
    const positions = after.split(",").map((position) => Number(position.slice(PREFIX.length)));
    const open = { response, channels, positions };
    if (kind === "live") this.#stream(open);
    else this.#poll(open, asked.wait !== "0");
  };

  #texts(channel: string): string[] {
    const known = this.#channels.get(channel) ?? [];
    this.#channels.set(channel, known);
    return known;
  }

  #stream(open: Open): void {
    const headers = { "content-type": "text/event-stream", "cache-control": "private, no-store, no-transform" };
    open.response.writeHead(200, headers);
    open.response.write("retry: 50\n\n");
    this.#streams.add(open);
    open.response.once("close", () => this.#streams.delete(open));
    this.#tell(open);
    open.response.write(this.#frames(open) || "event: ping\ndata: 1\n\n");
  }

  #poll(open: Open, waits: boolean): void {
    const isDue = open.channels.some((channel, i) => this.#texts(channel).length > (open.positions[i] ?? 0));
    const isLost = open.channels.some((channel) => this.#lost.has(channel));
    if (isDue || isLost || !waits) {
      this.#endPoll(open);
      return;
    }
    this.#polls.add(open);
    open.response.once("close", () => this.#polls.delete(open));
  }

  #endPoll({ response, channels, positions }: Open): void {
    const gaps = channels.flatMap((channel) => {
      const reason = this.#lost.get(channel);
      return reason === undefined ? [] : [[channel, reason]];
    });
    const events = channels.flatMap((channel, i) =>
      this.#lost.has(channel)
        ? []
        : this.#texts(channel)
            .slice(positions[i])
            .map((text) => [channel, text]),
    );
    const cursor = channels.map((channel) =>
      this.#lost.has(channel) ? "-" : `${PREFIX}${this.#texts(channel).length}`,
    );
    response.writeHead(200, { "content-type": "application/json", "cache-control": "private, no-store" });
    response.end(JSON.stringify({ events, gaps, cursor: cursor.join() }));
  }

  #frames({ channels, positions }: Open): string {
    let text = "";
    channels.forEach((channel, i) => {
      if (this.#lost.has(channel)) return;
      for (const data of this.#texts(channel).slice(positions[i])) {
        positions[i] = (positions[i] ?? 0) + 1;
        text += `id: ${this.#cursor(channels, positions)}\ndata: ${channel}\ndata: ${JSON.stringify(data)}\n\n`;
      }
    });
    return text;
  }

  #tell({ response, channels, positions }: Open): void {
    for (const channel of channels) {
      const reason = this.#lost.get(channel);
      if (reason === undefined) continue;
      response.write(`id: ${this.#cursor(channels, positions)}\nevent: gap\ndata: ${channel}\ndata: ${reason}\n\n`);
    }
  }

  #cursor(channels: readonly string[], positions: readonly number[]): string {
    return channels.map((channel, i) => (this.#lost.has(channel) ? "-" : `${PREFIX}${positions[i]}`)).join();
  }
}
