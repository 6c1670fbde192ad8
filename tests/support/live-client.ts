/**
 * A client of live updates over `app.fetch`: gets feeds, opens event streams and polls.
 */
import type { App } from "../../src/app.ts";
import { type ChannelOptions, channel } from "../../src/live/index.ts";
import { TAGS_EVENT } from "../../src/protocol/index.ts";
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

/** The parts of a live request besides its feeds. With the method POST they are in its body, and otherwise in its URL. */
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
  const { method = "GET", headers = {}, signal = null, after, wait } = options;
  if (method === "POST") return postLive(app, endpoint, { feeds, cursor: after, wait }, { headers, signal });
  const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
  if (after !== undefined) query.set("after", after);
  if (wait !== undefined) query.set("wait", String(wait));
  return app.fetch(new Request(`http://shop.example/__web/${endpoint}?${query}`, { method, headers, signal }));
}

/** Sends a POST for an event stream or a poll, with any body. */
export function postLive(
  app: App,
  endpoint: "live" | "poll",
  body: unknown,
  { headers = {}, signal = null }: Pick<RequestInit, "headers" | "signal"> = {},
): Promise<Response> {
  const request = new Request(`http://shop.example/__web/${endpoint}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...Object.fromEntries(new Headers(headers)) },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal,
  });
  return app.fetch(request);
}

/** Polls, and returns the body of the response. */
export async function poll(app: App, feeds: readonly string[], options: LiveRequestOptions = {}) {
  const response = await requestLive(app, "poll", feeds, options);
  return JSON.parse(await response.text()) as {
    events: [channel: string, message: unknown, id?: string][];
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
    return value.event === TAGS_EVENT ? next() : value; // once, at the start of a response to POST
  };
  return {
    response,
    /** Returns the next event, except for the tags of the feeds. */
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
