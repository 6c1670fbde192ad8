/**
 * Applications whose handlers of every kind read the session, and a bus that several of them share as processes do.
 */
import type { App, AppOptions } from "../../src/app.ts";
import { type Bus, memory } from "../../src/backends/index.ts";
import { request } from "../../src/http/index.ts";
import { memoryRevocations, type RevocationStore } from "../../src/revocation/index.ts";
import { session } from "../../src/session/index.ts";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp } from "./compiled-app.ts";
import { liveFunctions } from "./live-client.ts";

const who = () => session.user()?.sub ?? "nobody";

/** What the streams of the applications have done since the test started. */
export const streamEvents: string[] = [];

/** How many response bodies of the route that catches every error were cancelled. */
export let cancelledBodies = 0;

/** The declarations of the applications. */
export const REVOCABLE_MODULE = {
  ...liveFunctions,
  revoke: compiledServer("revoke", (subject: string | { sid: string }) => session.revoke(subject), {
    params: { subject: "any" },
  }),
  revoke_and_enter: compiledServer(
    "revoke_and_enter",
    async (user: string) => {
      await session.revoke(user);
      const between = who();
      session.login(user);
      return [between, who()];
    },
    { params: { user: "any" } },
  ),
  sign_in: compiledServer("sign_in", () => ({ sid: session.sid, issued_at: session.issued_at })),
  who: compiledServer("who", who),
  who_caught: compiledServer("who_caught", () => {
    try {
      return who();
    } catch {
      return "caught";
    }
  }),
  stream: compiledServer(
    "stream",
    async function* () {
      try {
        const { signal } = request;
        yield who();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      } finally {
        streamEvents.push("ended");
      }
    },
    { stream: true },
  ),
  page: compiledPage("/page", who),
  route: compiledRoute("GET /route", () => new Response(who())),
  route_caught: compiledRoute("GET /route-caught", () => {
    let text = "caught";
    try {
      text = who();
    } catch {} // a route that goes on
    const pull = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    };
    return new Response(new ReadableStream({ pull, cancel: () => void cancelledBodies++ }, { highWaterMark: 0 }));
  }),
};

/** Returns an application. */
export function createRevocableApp(options: Partial<AppOptions> = {}): App {
  return createTestApp(REVOCABLE_MODULE, { rate: false, ...options });
}

/** Signs a user in, and returns the `Cookie` header. */
export async function enter(app: App, user: string): Promise<string> {
  const response = await callOverHttp(app, "enter", { user });
  if (response.status !== 200) throw new Error(await response.text());
  return String(response.headers.get("set-cookie")).split(";")[0] ?? "";
}

/** Calls a function, and returns its result, or throws its error. */
export async function call(app: App, name: string, args: unknown = {}, cookie = ""): Promise<unknown> {
  const { result, error } = await (await callOverHttp(app, name, args, { headers: { cookie } })).json();
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return result;
}

/** A request for each kind of handler that reads the session. */
export const KINDS: Readonly<Record<string, (app: App, cookie: string) => Promise<Response>>> = {
  function: (app, cookie) => callOverHttp(app, "who", {}, { headers: { cookie } }),
  "function that catches every error": (app, cookie) => callOverHttp(app, "who_caught", {}, { headers: { cookie } }),
  stream: (app, cookie) => callOverHttp(app, "stream", {}, { headers: { cookie } }),
  form: (app, cookie) =>
    app.fetch(
      new Request("http://shop.example/page?__form=who", {
        method: "POST",
        headers: { cookie, origin: "http://shop.example" },
        body: new FormData(),
      }),
    ),
  page: (app, cookie) => app.fetch(new Request("http://shop.example/page", { headers: { cookie } })),
  route: (app, cookie) => app.fetch(new Request("http://shop.example/route", { headers: { cookie } })),
  "route that catches every error": (app, cookie) =>
    app.fetch(new Request("http://shop.example/route-caught", { headers: { cookie } })),
};

/** A bus that several applications share, whose store of revocations a test controls. */
export interface SharedBus extends Bus {
  readonly revocations: RevocationStore;
  isStoreUnreachable: boolean;
  isUnreachable: boolean;
  suppressesNotifications: boolean;
}

/** Returns a bus without faults. */
export function createSharedBus(): SharedBus {
  const inner = memory();
  const store = memoryRevocations();
  const requireReachable = (isUnreachable: boolean) => {
    if (isUnreachable) throw new Error("The server is unreachable.");
  };
  const bus: SharedBus = {
    ...{ isStoreUnreachable: false, isUnreachable: false, suppressesNotifications: false },
    async publish(channel, data) {
      requireReachable(bus.isUnreachable);
      return inner.publish(channel, data);
    },
    position: (channels) => inner.position(channels),
    read: (...input) => inner.read(...input),
    watch: (channel, listener) =>
      inner.watch(channel, (entry) => {
        if (!bus.suppressesNotifications) listener(entry);
      }),
    close: () => inner.close(),
    revocations: {
      async append(subject) {
        requireReachable(bus.isStoreUnreachable);
        await store.append(subject);
      },
      async read(after) {
        requireReachable(bus.isStoreUnreachable);
        return store.read(after);
      },
    },
  };
  return bus;
}
