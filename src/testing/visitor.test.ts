import { afterEach, beforeEach, describe, expect, expectTypeOf, it, type MockInstance, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { redirect, request } from "../http/index.ts";
import { channel } from "../live/index.ts";
import { route } from "../pages/index.ts";
import type { Feed } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { RPCError, visitor } from "./index.ts";

let events: string[] = [];
let log: MockInstance<typeof console.error>;
beforeEach(() => {
  events = [];
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

const add = compiledServer("add", (a: number, b: number) => a + b, { params: { a: "int", b: "int" } });
const login = compiledServer("login", (name: string) => session.login(name, { name }), { params: { name: "any" } });
const whoami = compiledServer("whoami", () => session.user());
const secret = compiledServer("secret", () => "for members", { options: { auth_required: true } });
const fail = compiledServer("fail", () => {
  throw new RPCError("conflict", "Taken.", { parameter: "email" });
});
const count = compiledServer(
  "count",
  async function* (to: number) {
    try {
      for (let n = 1; n <= to; n++) {
        events.push(`before ${n}`);
        yield n;
      }
    } finally {
      events.push("finally");
    }
  },
  { params: { to: "int" }, stream: true },
);
const wait = compiledServer("wait", async () => {
  events.push("waiting");
  await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  events.push("aborted");
});
const functions = { add, login, whoami, secret, fail, count, wait };

const home = compiledPage("/", () => `Hello ${session.user()?.sub ?? "guest"}`);
const old = compiledPage("/old", () => redirect("/older"));
const older = compiledPage("/older", () => redirect("/?from=older"));
const away = compiledPage("/away", () => redirect("https://elsewhere.example/", { external: true }));
const round = compiledPage("/round", () => redirect("/round"));
const seen = compiledPage("/seen", () => {
  request.set_cookie("seen", String(Number(request.cookies.seen ?? 0) + 1), { max_age: 60 });
  return `${request.headers["user-agent"]} ${request.method} ${request.cookies.seen ?? 0}`;
});
const forget = compiledPage("/forget", () => {
  request.set_cookie("seen", "", { max_age: 0 });
  return "deleted";
});
const hook = Reflect.apply(route, undefined, [
  "POST /hook",
  async (sent: Request) => new Response(`got ${await sent.text()}`, { status: 202 }),
  undefined,
  { file: "src/hooks.server.ts", line: 1 },
]);
const pages = { home, old, older, away, round, seen, forget, hook };

const app = createTestApp({ ...functions, ...pages }, { rate: { calls: 5, seconds: 60 } });

describe("a visitor that requests pages", () => {
  it("reads the whole response of a page", async () => {
    const visit = await visitor(app).get("/");
    expect(visit).toMatchObject({ status: 200, path: "/", location: null });
    expect(visit.text).toContain("Hello guest");
    expect(visit.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
  });

  it("receives error pages as responses", async () => {
    expect(await visitor(app).get("/nowhere")).toMatchObject({ status: 404 });
  });

  it("follows redirects only with the option follow", async () => {
    const guest = visitor(app);
    expect(await guest.get("/old")).toMatchObject({ status: 303, location: "/older", text: "", path: "/old" });
    const followed = await guest.get("/old", { follow: true });
    expect(followed).toMatchObject({ status: 200, path: "/?from=older", location: null });
    expect(followed.text).toContain("Hello");
  });

  it("does not follow a redirect to another site", async () => {
    const visit = await visitor(app).get("/away", { follow: true });
    expect(visit).toMatchObject({ status: 303, location: "https://elsewhere.example/" });
  });

  it("stops after 20 redirects", async () => {
    await expect(visitor(app).get("/round", { follow: true })).rejects.toThrow("redirects more than 20 times");
  });

  it.each(["//elsewhere.example/", "https://elsewhere.example/"])(
    "rejects a path outside of the site: %s",
    async (path) => {
      await expect(visitor(app).get(path)).rejects.toThrow(TypeError);
    },
  );

  it("stores its own cookies and deletes expired ones", async () => {
    const [ada, grace] = [visitor(app), visitor(app)];
    await ada.get("/seen");
    expect((await ada.get("/seen")).text).toContain("GET 1");
    expect(ada.cookies).toEqual({ seen: "2" });
    expect(Object.isFrozen(ada.cookies)).toBe(true);
    expect(grace.cookies).toEqual({});
    await ada.get("/forget");
    expect(ada.cookies).toEqual({});
  });

  it("sends headers with every request or with one", async () => {
    const guest = visitor(app, { headers: { "User-Agent": "one" } });
    expect((await guest.get("/seen")).text).toContain("one GET");
    expect((await guest.get("/seen", { headers: { "user-agent": "two" } })).text).toContain("two GET");
  });

  it("can send any request", async () => {
    const response = await visitor(app).fetch("/hook", { method: "POST", body: "news" });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe("got news");
  });
});

describe("a visitor that calls functions", () => {
  it("receives results through the whole pipeline", async () => {
    expect(await visitor(app).rpc("add", { a: "1", b: 2 })).toBe(3);
    expect(await visitor(app).rpc("whoami")).toBeNull();
  });

  it("receives errors with code, message and details", async () => {
    await expect(visitor(app).rpc("fail")).rejects.toMatchObject({ code: "conflict", details: { parameter: "email" } });
    await expect(visitor(app).rpc("add", { a: 1 })).rejects.toMatchObject({ code: "validation_error" });
    await expect(visitor(app).rpc("nothing")).rejects.toMatchObject({ code: "not_found" });
    await expect(visitor(app).rpc("fail")).rejects.toBeInstanceOf(RPCError);
    expect(() => visitor(app).rpc("then")).toThrow(TypeError);
  });

  it("has a rate limit of its own", async () => {
    const [ada, grace] = [visitor(app), visitor(app)];
    for (let n = 0; n < 5; n++) await ada.rpc("add", { a: n, b: n });
    await expect(ada.rpc("add", { a: 0, b: 0 })).rejects.toMatchObject({ code: "rate_limited" });
    expect(await grace.rpc("add", { a: 1, b: 1 })).toBe(2);
  });

  it("can share an address with another visitor", async () => {
    const [ada, grace] = [visitor(app, { address: "192.0.2.1" }), visitor(app, { address: "192.0.2.1" })];
    for (let n = 0; n < 5; n++) await ada.rpc("add", { a: n, b: n });
    await expect(grace.rpc("add", { a: 0, b: 0 })).rejects.toMatchObject({ code: "rate_limited" });
  });

  it("can call functions with their types", async () => {
    const api = visitor(app).client<typeof functions>();
    expectTypeOf(api.add).toEqualTypeOf(add);
    expect(await api.add(1, 2)).toBe(3);
    const values: number[] = [];
    for await (const n of api.count(2)) values.push(n);
    expect(values).toEqual([1, 2]);
  });

  it("finds an application below its base", async () => {
    const shop = createTestApp({ ...functions, ...pages }, { base: "/shop" });
    expect(await visitor(shop).rpc("add", { a: 1, b: 2 })).toBe(3);
    expect(await visitor(shop).get("/shop/old")).toMatchObject({ location: "/shop/older" });
    expect((await visitor(shop).get("/shop/old", { follow: true })).path).toBe("/shop/?from=older");
  });
});

describe("a visitor that reads a stream", () => {
  it("receives its values, while the function runs at most one step ahead", async () => {
    const stream = visitor(app).stream("count", { to: 9 });
    const reading = stream[Symbol.asyncIterator]();
    expect(events).toEqual([]);
    expect(await reading.next()).toEqual({ done: false, value: 1 });
    expect(events.length).toBeLessThanOrEqual(2);
    expect(await reading.next()).toEqual({ done: false, value: 2 });
    expect(events.length).toBeLessThanOrEqual(3);
    await reading.return?.();
  });

  it("ends the stream on the server by leaving the loop", async () => {
    for await (const n of visitor(app).stream("count", { to: 9 })) {
      expect(n).toBe(1);
      break;
    }
    await expect.poll(() => events.at(-1)).toBe("finally");
    expect(events).not.toContain("before 3");
  });

  it("is rejected like any other call", async () => {
    const reading = visitor(app).stream("count", { to: "three" })[Symbol.asyncIterator]();
    await expect(reading.next()).rejects.toMatchObject({ code: "validation_error" });
  });
});

describe("a visitor that aborts a request", () => {
  it("aborts request.signal and receives no response", async () => {
    const controller = new AbortController();
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"args":{}}',
      signal: controller.signal,
    };
    const pending = visitor(app).fetch("/__web/rpc/wait", init);
    await expect.poll(() => events).toEqual(["waiting"]);
    controller.abort(new Error("aborted by the test"));
    await expect(pending).rejects.toThrow("aborted by the test");
    await expect.poll(() => events).toEqual(["waiting", "aborted"]);
  });

  it("does not leave a stream running if it aborts before the response", async () => {
    const controller = new AbortController();
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"args":{"to":9}}',
      signal: controller.signal,
    };
    const pending = visitor(app).fetch("/__web/rpc/count", init);
    controller.abort(new Error("aborted by the test"));
    await expect(pending).rejects.toThrow("aborted by the test");
    expect(await visitor(app).rpc("add", { a: 1, b: 2 })).toBe(3); // by now the stream would have started
    expect(events).toEqual([]);
  });

  it("ends a response that has started", async () => {
    const controller = new AbortController();
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"args":{"to":9}}',
      signal: controller.signal,
    };
    const response = await visitor(app).fetch("/__web/rpc/count", init);
    controller.abort(new Error("aborted by the test"));
    await expect(response.text()).rejects.toThrow("aborted by the test");
    await expect.poll(() => events.at(-1)).toBe("finally");
  });
});

describe("a visitor that signs in", () => {
  it("has the same session as after a call of the application's function", async () => {
    const guest = visitor(app);
    guest.login("ada", { roles: ["admin"] });
    expect(await guest.rpc("whoami")).toEqual({ sub: "ada", roles: ["admin"] });
    expect((await guest.get("/")).text).toContain("Hello ada");
    expect(Object.keys(guest.cookies)).toEqual(["web_session"]);
    guest.logout();
    expect(await guest.rpc("whoami")).toBeNull();
    expect(guest.cookies).toEqual({ web_signed_out: "1" }); // until the next page
    await guest.get("/");
    expect(guest.cookies).toEqual({});
  });

  it("can sign in with the application's function too", async () => {
    const guest = visitor(app);
    await guest.rpc("login", { name: "ada" });
    expect(await guest.rpc("whoami")).toEqual({ sub: "ada", name: "ada" });
    expect(await visitor(app).rpc("whoami")).toBeNull();
  });

  it("has the cookie of the configuration", async () => {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_COOKIE_SECURE: "1", WEB_CSRF_SECRET: "7b".repeat(32) };
    const guest = visitor(createTestApp(functions, { env }));
    guest.login("ada");
    expect(Object.keys(guest.cookies)).toEqual(["__Host-web_session"]);
    expect(await guest.rpc("secret")).toBe("for members");
  });

  it("rejects a user id or claims that session.login rejects", () => {
    const guest = visitor(app);
    expect(() => guest.login("")).toThrow(TypeError);
    expect(() => Reflect.apply(guest.login, guest, ["ada", { born: new Date() }])).toThrow(TypeError);
    expect(guest.cookies).toEqual({});
  });

  it("sends the origin of the configuration", async () => {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ORIGIN: "https://shop.example" };
    const guest = visitor(createTestApp(functions, { env }), { headers: { origin: "https://shop.example" } });
    expect(await guest.rpc("add", { a: 1, b: 1 })).toBe(2);
    const foreign = visitor(createTestApp(functions, { env }), { headers: { origin: "https://evil.example" } });
    await expect(foreign.rpc("add", { a: 1, b: 1 })).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("a visitor that subscribes", () => {
  const feed_of = compiledServer("feed_of", (name: string) => channel<{ n: number }>(name), {
    params: { name: "any" },
  });
  const live = createTestApp({ feed_of, login }, { rate: false });

  it("receives the messages published after the feed was issued, in order, until it leaves the loop", async () => {
    const guest = visitor(live);
    await live.publish("room", { n: 0 });
    const feed = (await guest.rpc("feed_of", { name: "room" })) as Feed<{ n: number }>;
    await live.publish("room", { n: 1 });
    const received: number[] = [];
    for await (const message of guest.subscribe(feed)) {
      expectTypeOf(message).toEqualTypeOf<{ n: number }>();
      received.push(message.n);
      if (message.n === 3) break;
      await live.publish("room", { n: message.n + 1 });
    }
    expect(received).toEqual([1, 2, 3]);
  });

  it("receives an error for a rejected feed and for a gap", async () => {
    const guest = visitor(live);
    guest.login("ada");
    const feed = (await guest.rpc("feed_of", { name: "room" })) as Feed;
    await expect(guest.subscribe("AAAA" as Feed).next()).rejects.toThrow(
      /^subscribe: A feed was not issued by this application\. .* \(403\)$/,
    );
    await expect(visitor(live).subscribe(feed).next()).rejects.toThrow(
      "subscribe: messages of channel room were missed (expired).",
    );
  });
});

describe("a visitor that sends a form without script", () => {
  const sent = { method: "POST", body: new URLSearchParams({ name: "ada" }), headers: { origin: "http://localhost" } };

  it("is redirected to the page after the function has run, and keeps its cookies", async () => {
    const ada = visitor(app);
    const response = await ada.fetch("/?__form=login", sent);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    expect((await ada.get("/")).text).toContain("Hello ada");
  });

  it("is rejected without Origin", async () => {
    const ada = visitor(app);
    expect((await ada.fetch("/?__form=login", { ...sent, headers: {} })).status).toBe(403);
    expect((await ada.get("/")).text).toContain("Hello guest");
  });
});

describe("visitor", () => {
  it.each([
    ["nothing", () => undefined, 'undefined. Import it: `import app from "../src/app.ts"`.'],
    ["null", () => null, "null. Import it"],
    ["a promise", () => Promise.resolve(createTestApp({ add })), "a promise. Await it, or write `import app"],
    ["a module", () => ({ default: createTestApp({ add }) }), "its module. Pass the default export of the module."],
    ["options", () => ({ modules: [] }), "another object. Pass the object that new App({…}) returned."],
  ])("refuses %s in place of the application with the fix", (_what, value, message) => {
    const call = () => Reflect.apply(visitor, undefined, [value()]);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(`visitor() needs the application: visitor(app). Received: ${message}`);
  });
});

describe("the location of a visitor", () => {
  it("is the URL to which the latest call redirected, with the base, or null", async () => {
    const save = compiledServer("save", (to: string) => (to === "" ? "stays" : redirect(to)), {
      params: { to: "any" },
    });
    const watch = compiledServer(
      "watch",
      // biome-ignore lint/correctness/useYield: it redirects before its first value
      function* () {
        throw redirect("/watched");
      },
      { stream: true },
    );
    const module = { save, watch, home: compiledPage("/", () => "home") };
    const guest = visitor(createTestApp(module, { base: "/shop" }));
    expect(guest.location).toBeNull();
    expect(await guest.client<typeof module>().save("/a?b#c")).toBeNull();
    expect(guest.location).toBe("/shop/a?b#c");
    expect((await guest.get(String(guest.location))).status).toBe(404);
    expect(guest.location).toBe("/shop/a?b#c");
    expect(await guest.rpc("save", { to: "" })).toBe("stays");
    expect(guest.location).toBeNull();
    for await (const _ of guest.stream("watch")) throw new Error("It has no values.");
    expect(guest.location).toBe("/shop/watched");
  });
});
