/**
 * A server of live updates whose faults a test controls, for tests of the browser's script.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type Feed, readFeed } from "../../src/protocol/index.ts";
import { unsignedFeed } from "./unsigned-feed.ts";

/** A request that the browser sent. */
export interface RecordedRequest {
  readonly endpoint: "live" | "poll";
  readonly channels: readonly string[];
  readonly after: string;
  readonly wait: string | null;
}

/** Handles a request instead of the server, as a faulty server or proxy. @returns whether it did */
export type FaultHandler = (response: ServerResponse, request: RecordedRequest) => boolean;

/** An event stream or a waiting poll. */
interface Connection {
  readonly response: ServerResponse;
  readonly channels: readonly string[];
  readonly positions: number[];
}

const POSITION_PREFIX = "e.";

/** The server. The messages of its channels are texts; the position of the nth message is `e.n`. */
export class FakeLiveServer {
  readonly #channels = new Map<string, string[]>();
  readonly #streams = new Set<Connection>();
  readonly #polls = new Set<Connection>();
  /** The reasons of gaps, by channel. */
  readonly #gaps = new Map<string, string>();
  /** All requests, oldest first. */
  readonly requests: RecordedRequest[] = [];
  /** Called for each request. */
  onRequest: FaultHandler = () => false;

  /** Returns a feed from the current position on. */
  issueFeed(channel: string): Feed<string> {
    return unsignedFeed<string>(channel, { position: `${POSITION_PREFIX}${this.#textsOf(channel).length}` });
  }

  /** The number of open event streams. */
  get openStreamCount(): number {
    return this.#streams.size;
  }

  /** The number of waiting polls. */
  get waitingPollCount(): number {
    return this.#polls.size;
  }

  /** Publishes texts. They are sent in one write. */
  publish(channel: string, ...texts: string[]): void {
    this.#textsOf(channel).push(...texts);
    for (const connection of this.#streams) connection.response.write(this.#encodeMessages(connection));
    for (const connection of [...this.#polls]) if (connection.channels.includes(channel)) this.#endPoll(connection);
  }

  /** Reports a gap of a channel to all requests from now on. */
  reportGap(channel: string, reason: string): void {
    this.#gaps.set(channel, reason);
    for (const connection of this.#streams) this.#writeGaps(connection);
  }

  /** Breaks all connections. */
  closeConnections(): void {
    for (const { response } of [...this.#streams, ...this.#polls]) response.destroy();
  }

  /** Handles requests to `/__web/live` and `/__web/poll`. */
  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const json = await text(request);
    if (json === "") return; // a page that was left has aborted the request before its body was sent
    const body = JSON.parse(json) as { feeds: string[]; cursor: string; wait?: number }; // what a page sends
    const endpoint = request.url?.endsWith("/live") ? "live" : "poll";
    const channels = body.feeds.map((feed) => readFeed(feed).channel);
    const after = body.cursor;
    const recorded = { endpoint, channels, after, wait: body.wait === undefined ? null : String(body.wait) } as const;
    this.requests.push(recorded);
    if (response.destroyed || this.onRequest(response, recorded)) return;
    const positions = after.split(",").map((position) => Number(position.slice(POSITION_PREFIX.length)));
    const connection = { response, channels, positions };
    if (endpoint === "live") this.#openEventStream(connection);
    else this.#poll(connection, recorded.wait !== "0");
  };

  #textsOf(channel: string): string[] {
    const texts = this.#channels.get(channel) ?? [];
    this.#channels.set(channel, texts);
    return texts;
  }

  #openEventStream(connection: Connection): void {
    const headers = { "content-type": "text/event-stream", "cache-control": "private, no-cache, no-transform" };
    connection.response.writeHead(200, headers);
    connection.response.write("retry: 50\n\n");
    this.#streams.add(connection);
    connection.response.once("close", () => this.#streams.delete(connection));
    this.#writeGaps(connection);
    connection.response.write(this.#encodeMessages(connection) || "event: ping\ndata: 1\n\n");
  }

  #poll(connection: Connection, waits: boolean): void {
    const hasMessages = connection.channels.some(
      (channel, i) => this.#textsOf(channel).length > (connection.positions[i] ?? 0),
    );
    const hasGap = connection.channels.some((channel) => this.#gaps.has(channel));
    if (hasMessages || hasGap || !waits) {
      this.#endPoll(connection);
      return;
    }
    this.#polls.add(connection);
    connection.response.once("close", () => this.#polls.delete(connection));
  }

  #endPoll({ response, channels, positions }: Connection): void {
    const gaps = channels.flatMap((channel) => {
      const reason = this.#gaps.get(channel);
      return reason === undefined ? [] : [[channel, reason]];
    });
    const events = channels.flatMap((channel, i) =>
      this.#gaps.has(channel)
        ? []
        : this.#textsOf(channel)
            .slice(positions[i])
            .map((text, n) => [channel, text, `${i}=${POSITION_PREFIX}${(positions[i] ?? 0) + n + 1}`]),
    );
    const cursor = channels.map((channel) =>
      this.#gaps.has(channel) ? "-" : `${POSITION_PREFIX}${this.#textsOf(channel).length}`,
    );
    response.writeHead(200, { "content-type": "application/json", "cache-control": "private, no-cache" });
    response.end(JSON.stringify({ events, gaps, cursor: cursor.join() }));
  }

  #encodeMessages({ channels, positions }: Connection): string {
    let text = "";
    channels.forEach((channel, i) => {
      if (this.#gaps.has(channel)) return;
      for (const data of this.#textsOf(channel).slice(positions[i])) {
        positions[i] = (positions[i] ?? 0) + 1;
        text += `id: ${i}=${POSITION_PREFIX}${positions[i]}\ndata: ${channel}\ndata: ${JSON.stringify(data)}\n\n`;
      }
    });
    return text;
  }

  #writeGaps({ response, channels }: Connection): void {
    for (const [i, channel] of channels.entries()) {
      const reason = this.#gaps.get(channel);
      if (reason === undefined) continue;
      response.write(`id: ${i}=-\nevent: gap\ndata: ${channel}\ndata: ${reason}\n\n`);
    }
  }
}
