/**
 * A page that listens, without a browser: feeds from an application, its stream and its poll.
 */
import type { App } from "../../src/app.ts";
import { channel } from "../../src/live/index.ts";
import { session } from "../../src/session/index.ts";
import { call, compiledServer } from "./compiled.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";

/** Server functions that give feeds and sign in. */
export const listening = {
  feed_of: compiledServer("feed_of", (name: string) => channel(name), { params: { name: "any" } }),
  enter: compiledServer("enter", (who: string) => session.login(who), { params: { who: "any" } }),
};

/** Gets a feed, as a page would get it. */
export async function feedOf(app: App, name: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await call(app, "feed_of", { name }, { headers });
  const { result, error } = await response.json();
  if (error) throw new Error(error.message);
  return result;
}

/** What is asked for beside the feeds. */
export interface Listening {
  readonly after?: string;
  readonly wait?: number | string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Asks for the stream or the poll. */
export function ask(
  app: App,
  what: "live" | "poll",
  feeds: readonly string[],
  more: Listening = {},
): Promise<Response> {
  const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
  if (more.after !== undefined) query.set("after", more.after);
  if (more.wait !== undefined) query.set("wait", String(more.wait));
  const { method = "GET", headers = {}, signal } = more;
  const init = signal ? { method, headers, signal } : { method, headers };
  return app.fetch(new Request(`http://shop.example/__web/${what}?${query}`, init));
}

/** Polls, and gives the answer. */
export async function poll(app: App, feeds: readonly string[], more: Listening = {}) {
  const response = await ask(app, "poll", feeds, more);
  return JSON.parse(await response.text()) as {
    events: [string, unknown][];
    gaps: [string, string][];
    cursor: string;
  };
}

/** Opens the stream, and gives its events one by one. */
export async function listen(app: App, feeds: readonly string[], more: Listening = {}) {
  const response = await ask(app, "live", feeds, more);
  const events = readEvents(response.body);
  const next = async (): Promise<StreamEvent> => {
    const { value, done } = await events.next();
    if (done) throw new Error("The stream has ended.");
    return value;
  };
  return {
    response,
    events,
    next,
    /** Gives the messages of the next events, as JSON. */
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
