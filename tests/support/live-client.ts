/**
 * A client of live updates over `app.fetch`: gets feeds, opens event streams and polls.
 */
import type { App } from "../../src/app.ts";
import { type ChannelOptions, channel } from "../../src/live/index.ts";
import { session } from "../../src/session/index.ts";
import { callOverHttp, compiledServer } from "./compiled-app.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";

/** Server functions that issue feeds and sign in. */
export const liveFunctions = {
  feed_of: compiledServer("feed_of", (name: string, options: ChannelOptions) => channel(name, options), {
    params: { name: "any", options: "any" },
  }),
  leave: compiledServer("leave", () => session.logout()),
  enter: compiledServer("enter", (user: string) => session.login(user), { params: { user: "any" } }),
};

/** Returns a feed, issued by an application with {@link liveFunctions}. */
export async function issueFeed(
  app: App,
  name: string,
  headers: Record<string, string> = {},
  options: unknown = {},
): Promise<string> {
  const response = await callOverHttp(app, "feed_of", { name, options }, { headers });
  const { result, error } = await response.json();
  if (error) throw new Error(error.message);
  return result;
}

/** The parts of a live request besides its feeds. */
export interface LiveRequestOptions {
  /** The cursor. */
  readonly after?: string;
  /** In seconds. */
  readonly wait?: number | string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends a request for an event stream or a poll. */
export function requestLive(
  app: App,
  endpoint: "live" | "poll",
  feeds: readonly string[],
  options: LiveRequestOptions = {},
): Promise<Response> {
  const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
  if (options.after !== undefined) query.set("after", options.after);
  if (options.wait !== undefined) query.set("wait", String(options.wait));
  const { method = "GET", headers = {}, signal } = options;
  const init = signal ? { method, headers, signal } : { method, headers };
  return app.fetch(new Request(`http://shop.example/__web/${endpoint}?${query}`, init));
}

/** Polls, and returns the body of the response. */
export async function poll(app: App, feeds: readonly string[], options: LiveRequestOptions = {}) {
  const response = await requestLive(app, "poll", feeds, options);
  return JSON.parse(await response.text()) as {
    events: [string, unknown][];
    gaps: [string, string][];
    cursor: string;
  };
}

/** Opens an event stream. The caller has to close it. */
export async function openEventStream(app: App, feeds: readonly string[], options: LiveRequestOptions = {}) {
  const response = await requestLive(app, "live", feeds, options);
  const events = readEvents(response.body);
  const next = async (): Promise<StreamEvent> => {
    const { value, done } = await events.next();
    if (done) throw new Error("The event stream has ended.");
    return value;
  };
  return {
    response,
    /** Returns the next event. */
    next,
    /** Returns the next messages, parsed. */
    async take(count: number): Promise<unknown[]> {
      const messages: unknown[] = [];
      while (messages.length < count) {
        const { event, data } = await next();
        if (event === "message") messages.push(JSON.parse(data[1] ?? ""));
      }
      return messages;
    },
    close: () => events.return(undefined),
  };
}
