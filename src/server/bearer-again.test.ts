/** When `authenticate` is called again, and what ends the open streams of a token. @see docs/protocol.md 7.9 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import type { App } from "../app.ts";
import { once } from "../http/index.ts";
import { channel } from "../live/index.ts";
import { type Authenticate, session } from "../session/index.ts";

/** What `authenticate` does next: the user, `null`, or an error. The last one is repeated. */
let answers: (Awaited<ReturnType<Authenticate>> | Error)[] = [];
const GRACE = { sub: "grace", roles: ["editor"] };
const authenticateCall = vi.fn<(token: string) => void>();

const authenticate: Authenticate = async (token) => {
  authenticateCall(token);
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  if (answer instanceof Error) throw answer;
  return answer;
};

let seen: unknown[] = [];
let errors: { id?: string }[] = [];
const log = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields: object) => void errors.push(fields),
};

beforeEach(() => {
  answers = [GRACE];
  seen = [];
  errors = [];
  authenticateCall.mockClear();
});
afterEach(() => vi.useRealTimers());

const see = () => {
  seen.push(session.user());
  return session.user()?.sub ?? null;
};
const ANY = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
const value = { value: { type: "any", optional: true } } as const;
const open = compiledServer("open", see, { params: value });
const secret = compiledServer("secret", see, { params: value, options: { auth_required: true } });
const checked = compiledServer("checked", see, { params: value, options: { validate: { value: ANY } } });
const upload = compiledServer("upload", see, { params: { file: { type: "any", files: "one" } } });
const feed = compiledServer("feed", async (name: string) => channel(name), { params: { name: "any" } });
const revoke = compiledServer("revoke", (who: never) => session.revoke(who), { params: { who: "any" } });
const sid = compiledServer("sid", () => session.sid);

/** Yields the user whenever `next` is called. */
let next: () => void = () => undefined;
const events = compiledServer(
  "events",
  async function* () {
    try {
      for (;;) {
        yield session.user();
        await new Promise<void>((resolve) => {
          next = resolve;
        });
      }
    } finally {
      seen.push("closed");
    }
  },
  { stream: true },
);
const guarded = compiledServer(
  "guarded",
  function* () {
    yield see();
  },
  { params: value, stream: true, options: { auth_required: true } },
);

function createApp(): App {
  const module = { open, secret, checked, upload, feed, revoke, sid, events, guarded };
  return createTestApp(module, { authenticate, log, rate: false });
}

const HEADERS = { authorization: "Bearer token-of-grace", "content-type": "application/json" };

function send(app: App, path: string, init: RequestInit = {}): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, { headers: HEADERS, ...init }), { address: "192.0.2.1" });
}

function call(app: App, name: string, args: object = {}): Promise<Response> {
  return send(app, `/__web/rpc/${name}`, { method: "POST", body: JSON.stringify({ args }) });
}

/** A request whose body arrives when `finish` is called. */
function lateRequest(app: App, path: string, type: string, text: string) {
  let finish: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      finish = () => {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      };
    },
  });
  const headers = { ...HEADERS, "content-type": type };
  const response = send(app, path, { method: "POST", body, headers, duplex: "half" } as RequestInit);
  return { response, finish: () => finish() };
}

const FORM = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--b--\r\n`;
const LATE: Readonly<Record<string, (app: App) => ReturnType<typeof lateRequest>>> = {
  function: (app) => lateRequest(app, "/__web/rpc/open", "application/json", '{"args":{}}'),
  "function with auth_required": (app) => lateRequest(app, "/__web/rpc/secret", "application/json", '{"args":{}}'),
  "function with schemas": (app) => lateRequest(app, "/__web/rpc/checked", "application/json", '{"args":{}}'),
  stream: (app) => lateRequest(app, "/__web/rpc/guarded", "application/json", '{"args":{}}'),
  "form with a file": (app) => lateRequest(app, "/__web/form/upload", "multipart/form-data; boundary=b", FORM),
};

describe.each(Object.entries(LATE))("a %s whose body arrives late", (_, start) => {
  /** Sends a body that arrives after this time, which the answers before `then` have preceded. */
  async function arriveAfter(seconds: number, then: (typeof answers)[number]): Promise<Response> {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { response, finish } = start(createApp());
    await expect.poll(() => authenticateCall).toHaveBeenCalledOnce();
    answers = [then];
    vi.advanceTimersByTime(seconds * 1000);
    finish();
    return response;
  }

  it("asks authenticate again, and does not run if the token is refused by then [BEARER-21]", async () => {
    for (const then of [null, { sub: "linus" }]) {
      authenticateCall.mockClear();
      answers = [GRACE];
      const response = await arriveAfter(6, then);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
      await response.body?.cancel();
      expect(authenticateCall).toHaveBeenCalledTimes(2);
      expect(seen).toEqual([]);
    }
  });

  it("is answered with 503 if authenticate fails by then [BEARER-22]", async () => {
    const response = await arriveAfter(6, new Error("The database is unreachable"));
    expect(response.status).toBe(503);
    await response.body?.cancel();
    expect(seen).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it("runs with the claims of the second answer", async () => {
    const response = await arriveAfter(6, { sub: "grace", roles: [] });
    expect(response.status).toBe(200);
    await response.text();
    expect(seen).toEqual([{ sub: "grace", roles: [] }]);
  });

  it("does not ask again within 5 seconds", async () => {
    const response = await arriveAfter(4, null);
    expect(response.status).toBe(200);
    await response.text();
    expect(seen).toEqual([GRACE]);
    expect(authenticateCall).toHaveBeenCalledTimes(1);
  });

  it("does not run if the user was revoked meanwhile, and authenticate refuses the token then", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const app = createApp();
    const { response, finish } = start(app);
    await expect.poll(() => authenticateCall).toHaveBeenCalledOnce();
    await app.revoke("grace");
    answers = [null];
    vi.advanceTimersByTime(6_000);
    finish();
    expect((await response).status).toBe(401);
    expect(seen).toEqual([]);
  });
});

/** Reads a response that goes on. */
function readerOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    /** Resolves with what was received until a text, or until the end. */
    async until(part: string): Promise<string> {
      while (reader && !text.includes(part)) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
      }
      const received = text;
      text = "";
      return received;
    },
    toEnd(): Promise<string> {
      return this.until("\0");
    },
    cancel: () => reader?.cancel(),
  };
}

/** The responses that go on. Each function returns one that has begun. */
const OPEN: Readonly<Record<string, (app: App) => Promise<ReturnType<typeof readerOf>>>> = {
  stream: async (app) => {
    const reader = readerOf(await call(app, "events"));
    await reader.until("grace");
    return reader;
  },
  "event stream": async (app) => {
    const { result } = await (await call(app, "feed", { name: "room" })).json();
    const reader = readerOf(await send(app, `/__web/live?feed=${encodeURIComponent(result)}`));
    await reader.until("retry");
    return reader;
  },
};

describe.each(Object.entries(OPEN))("an open %s of a bearer token", (kind, start) => {
  const minute = () => vi.advanceTimersByTimeAsync(60_000);
  const begin = async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reader = await start(createApp());
    authenticateCall.mockClear();
    return reader;
  };

  it("asks authenticate every 60 seconds, and ends when the token is refused [BEARER-23]", async () => {
    const reader = await begin();
    for (const times of [1, 2, 3]) {
      await minute();
      expect(authenticateCall).toHaveBeenCalledTimes(times);
    }
    answers = [null];
    await minute();
    const rest = await reader.toEnd();
    if (kind === "stream") expect(rest).toContain('"code":"unauthenticated"');
    await minute();
    expect(authenticateCall).toHaveBeenCalledTimes(4);
  });

  it("ends when the token belongs to another user", async () => {
    const reader = await begin();
    answers = [{ sub: "linus" }];
    await minute();
    await reader.toEnd();
    await minute();
    expect(authenticateCall).toHaveBeenCalledTimes(1);
  });

  it("stays open while authenticate fails twice, and ends with the third failure in a row [BEARER-24]", async () => {
    const reader = await begin();
    const failure = new Error("The database is unreachable");
    answers = [failure, failure, GRACE, failure, failure, failure, GRACE];
    for (const failures of [1, 2, 2, 3, 4]) {
      await minute();
      expect(errors).toHaveLength(failures);
    }
    await minute();
    await reader.toEnd();
    expect(errors).toHaveLength(5);
    for (const { id } of errors) expect(id).toMatch(/^[0-9a-f]{32}$/);
    await minute();
    expect(authenticateCall).toHaveBeenCalledTimes(6);
  });

  it.each(["user", "token"])("ends when its %s is revoked, and a new one is accepted [BEARER-25]", async (what) => {
    const app = createApp();
    const reader = await start(app);
    const tokenId = (await (await call(app, "sid")).json()).result;
    await app.revoke(what === "user" ? "grace" : { sid: tokenId });
    await reader.toEnd();
    expect((await call(app, "secret")).status).toBe(200);
    const second = await start(app);
    await second.cancel();
  });

  it("asks no more when its client has disconnected", async () => {
    const reader = await begin();
    await reader.cancel();
    await minute();
    await minute();
    expect(authenticateCall).not.toHaveBeenCalled();
  });
});

describe("a stream of a bearer token", () => {
  it("sees the claims of the latest answer, and no user after its end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const users: unknown[] = [];
    const watching = compiledServer(
      "watching",
      async function* () {
        try {
          for (;;) {
            yield session.user();
            await new Promise<void>((resolve) => {
              next = resolve;
            });
          }
        } finally {
          users.push(session.user(), session.sid);
        }
      },
      { stream: true },
    );
    const app = createTestApp({ watching }, { authenticate, log });
    const reader = readerOf(await call(app, "watching"));
    expect(await reader.until("\n")).toContain('"editor"');
    answers = [{ sub: "grace", roles: ["admin"] }];
    await vi.advanceTimersByTimeAsync(60_000);
    next();
    expect(await reader.until("\n")).toContain('"admin"');
    answers = [null];
    await vi.advanceTimersByTimeAsync(60_000);
    await reader.toEnd();
    next();
    await vi.advanceTimersByTimeAsync(0);
    expect(users).toEqual([null, null]);
  });

  it("is not kept open by what once() has stored for its request [BEARER-26]", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const lookup = once(async (token: string) => authenticate(token));
    const app = createTestApp({ events }, { authenticate: lookup, log });
    const reader = readerOf(await call(app, "events"));
    await reader.until("grace");
    answers = [null];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await reader.toEnd()).toContain("unauthenticated");
  });
});

describe("a request of a bearer token that is running", () => {
  it("has no user from the revocation on, and the next request has", async () => {
    const app = createApp();
    const revokeSelf = compiledServer("revokeSelf", async () => {
      await session.revoke(session.require().sub);
      return session.user();
    });
    const own = createTestApp({ revokeSelf, secret }, { authenticate, log });
    expect(await (await call(own, "revokeSelf")).json()).toEqual({ result: null });
    expect((await call(own, "secret")).status).toBe(200);
    expect((await call(app, "revoke", { who: "grace" })).status).toBe(200);
    expect((await call(app, "secret")).status).toBe(200);
  });

  it("issues no feed after a revocation: it would have no owner", async () => {
    const late = compiledServer("late", async () => {
      await session.revoke("grace");
      return channel("room");
    });
    const app = createTestApp({ late }, { authenticate, log });
    expect((await call(app, "late")).status).toBe(401);
  });
});
