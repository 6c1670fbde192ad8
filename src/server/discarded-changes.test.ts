/** Cookies and sign-ins of requests that fail, for every kind of handler. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blockEventLoop } from "#test/block-event-loop";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { cookieHeaderOf, requestContext, testConfig } from "#test/request-context";
import { RPCError, ValueError } from "../errors.ts";
import { request, runInContext } from "../http/index.ts";
import { NotFound } from "../pages/index.ts";
import { session } from "../session/index.ts";

const ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32) };

/** What a handler changes before it fails. */
const CHANGES: Readonly<Record<string, () => void>> = {
  "a sign-in": () => session.login("ada"),
  "a sign-out": () => session.logout(),
  "a cookie": () => request.set_cookie("theme", "dark"),
};

/** Sends a request, with the cookie of a user who is signed in as Grace, to a handler that runs `work`. */
type Send = (work: () => unknown) => Promise<Response>;

function signedInCookie(): string {
  const context = requestContext(undefined, testConfig(ENV));
  runInContext(context, () => session.login("grace"));
  return cookieHeaderOf(context);
}

const headers = { cookie: signedInCookie() };

const KINDS: Readonly<Record<string, Send>> = {
  function: (work) => {
    const app = createTestApp({ run: compiledServer("run", async () => work()) }, { env: ENV });
    return callOverHttp(app, "run", {}, { headers });
  },
  "stream before its first value": (work) => {
    const run = compiledServer(
      "run",
      async function* () {
        yield await work();
      },
      { stream: true },
    );
    return callOverHttp(createTestApp({ run }, { env: ENV }), "run", {}, { headers });
  },
  page: (work) => {
    const app = createTestApp({ run: compiledPage("/run", async () => String(await work())) }, { env: ENV });
    return app.fetch(new Request("http://shop.example/run", { headers }));
  },
  route: (work) => {
    const run = compiledRoute("POST /run", async () => new Response(String(await work())));
    return createTestApp({ run }, { env: ENV }).fetch(
      new Request("http://shop.example/run", { method: "POST", headers }),
    );
  },
};

/** Errors that are thrown on purpose, with the kinds that they are an expected response of. */
const DELIBERATE: readonly (readonly [string, () => Error, readonly string[]])[] = [
  ["an RPCError", () => new RPCError("conflict", "Taken."), Object.keys(KINDS)],
  ["an RPCError timeout", () => new RPCError("timeout", "The bank did not respond."), Object.keys(KINDS)],
  ["a NotFound", () => new NotFound(), Object.keys(KINDS)],
  ["a ValueError", () => new ValueError("Too short."), Object.keys(KINDS).filter((kind) => kind !== "page")],
];

const UNEXPECTED: readonly (readonly [string, () => unknown])[] = [
  ["an Error", () => new Error("disk full")],
  ["a TypeError", () => new TypeError("x is undefined")],
  ["a TypeError with a cause", () => new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") })],
  ["a value that is not an Error", () => "text"],
];

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns the number of cookies of a change. A sign-out sets a second one (docs/protocol.md 7.1). */
const cookieCount = (change: string) => (change === "a sign-out" ? 2 : 1);

describe.each(Object.entries(KINDS))("a %s", (kind, send) => {
  const changes = Object.entries(CHANGES);

  it.each(changes)("that succeeds keeps %s", async (name, change) => {
    const response = await send(change);
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()).toHaveLength(cookieCount(name));
  });

  for (const [name, createError] of DELIBERATE.filter(([, , kinds]) => kinds.includes(kind))) {
    it.each(changes)(`that throws ${name} on purpose keeps %s`, async (change, apply) => {
      const response = await send(() => {
        apply();
        throw createError();
      });
      expect(response.headers.getSetCookie()).toHaveLength(cookieCount(change));
    });
  }

  for (const [name, createError] of UNEXPECTED) {
    it.each(changes)(
      `that throws ${name} discards %s, and the client stays signed in as before [SESSION-37]`,
      async (_, change) => {
        const response = await send(() => {
          change();
          throw createError();
        });
        expect(response.headers.getSetCookie()).toEqual([]);
        expect(response.headers.has("x-csrf-token")).toBe(false);
        expect(await response.text()).toMatch(/error|went wrong/i);
      },
    );
  }
});

it("a page that throws a ValueError, which is a 500, discards its cookies", async () => {
  const response = await KINDS.page?.(() => {
    session.login("ada");
    throw new ValueError("Too short.");
  });
  expect(response?.status).toBe(500);
  expect(response?.headers.getSetCookie()).toEqual([]);
});

it.each(["function", "stream before its first value"])(
  "a %s whose value cannot be serialised discards its cookies",
  async (kind) => {
    const response = await KINDS[kind]?.(() => {
      session.login("ada");
      return loop();
    });
    expect(await response?.text()).toContain("internal");
    expect(response?.headers.getSetCookie()).toEqual([]);
  },
);

function loop(): object {
  const object: { self?: object } = {};
  object.self = object;
  return object;
}

it("a route that returns no Response, or one whose body was read, discards its cookies", async () => {
  for (const result of ["text", await usedResponse()]) {
    const run = compiledRoute("GET /run", () => {
      session.login("ada");
      return result as Response; // JavaScript code can return any value
    });
    const response = await createTestApp({ run }, { env: ENV }).fetch(new Request("http://shop.example/run"));
    expect(response.status).toBe(500);
    expect(response.headers.getSetCookie()).toEqual([]);
  }
});

async function usedResponse(): Promise<Response> {
  const response = new Response("text");
  await response.text();
  return response;
}

it("the error page of a page that failed shows the user who was signed in before", async () => {
  const run = compiledPage("/run", () => {
    session.login("ada");
    throw new Error("disk full");
  });
  const layout = () => `User: ${session.user()?.sub}`;
  const app = createTestApp({ run }, { env: ENV, layout });
  expect(await (await app.fetch(new Request("http://shop.example/run", { headers }))).text()).toContain("User: grace");
});

describe("a call that exceeds its time limit", () => {
  const options = { rpc_timeout: 0.02 };

  it.each(Object.entries(CHANGES))("discards %s", async (_, change) => {
    const run = compiledServer(
      "run",
      () => {
        change();
        return new Promise(() => undefined);
      },
      { options },
    );
    const response = await callOverHttp(createTestApp({ run }, { env: ENV }), "run", {}, { headers });
    expect(response.status).toBe(504);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(response.headers.has("x-csrf-token")).toBe(false);
  });

  it("discards a sign-in of a function that continues when its signal aborts [SESSION-38]", async () => {
    let late: unknown;
    const run = compiledServer(
      "run",
      async () => {
        const { signal } = request;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        late = attempt(() => session.login("ada"));
      },
      { options },
    );
    const response = await callOverHttp(createTestApp({ run }, { env: ENV }), "run", {}, { headers });
    expect(response.status).toBe(504);
    expect(response.headers.getSetCookie()).toEqual([]);
    await expect.poll(() => String(late)).toContain("cannot be set");
  });

  it("discards the changes of a function that blocks the event loop", async () => {
    const run = compiledServer(
      "run",
      () => {
        session.login("ada");
        blockEventLoop(40);
        return "done";
      },
      { options },
    );
    const response = await callOverHttp(createTestApp({ run }, { env: ENV }), "run", {}, { headers });
    expect(response.status).toBe(504);
    expect(response.headers.getSetCookie()).toEqual([]);
  });
});

/** Returns the error that `work` throws, if any. */
function attempt(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
