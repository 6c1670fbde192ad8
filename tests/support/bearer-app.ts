/** An application whose handlers, of every kind, accept bearer tokens. @see docs/protocol.md 7.9 */
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { App, AppOptions } from "../../src/app.ts";
import { channel } from "../../src/live/index.ts";
import { type Authenticate, session } from "../../src/session/index.ts";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "./compiled-app.ts";
import { signInCookie, testConfig } from "./request-context.ts";

export const ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32) };
export const COOKIE = signInCookie("ada", { roles: ["admin"] }, testConfig(ENV));

/** Who the tokens of the tests belong to. */
export const USERS: Readonly<Record<string, { sub: string; roles: string[] } | undefined>> = {
  "token-of-grace": { sub: "grace", roles: ["editor"] },
  "token-of-linus": { sub: "linus", roles: [] },
};

/** The users that handlers have seen. */
export const seen: (string | undefined)[] = [];
export const see = () => {
  seen.push(session.user()?.sub);
  return session.user()?.sub ?? null;
};

interface Line {
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Returns the error of a line of the log. */
export function errorOf(line: Line | undefined): Error {
  const err = line?.fields.err;
  if (err instanceof Error) return err;
  if (typeof err === "string") return new Error(err);
  throw new Error("The line has no error.");
}

export const lines: Line[] = [];
export const log = {
  info: () => undefined,
  warn: (fields: object, message: string) => void lines.push({ fields: { ...fields }, message }),
  error: (fields: object, message: string) => void lines.push({ fields: { ...fields }, message }),
};

/** Forgets after each test what the application has seen and logged. */
export function useBearerApp(): void {
  beforeEach(() => {
    seen.length = 0;
    lines.length = 0;
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

const open = compiledServer("open", see);
const secret = compiledServer("secret", see, { options: { auth_required: true } });
const ticks = compiledServer(
  "ticks",
  function* () {
    yield see();
  },
  { stream: true, options: { auth_required: true } },
);
const upload = compiledServer("upload", (file: File) => `${see()} ${file.name}`, {
  params: { file: { type: "any", files: "one" } },
  options: { auth_required: true },
});
const feed = compiledServer("feed", async (name: string) => channel(name), { params: { name: "any" } });
const signIn = compiledServer("signIn", () => session.login("eve"));
const signOut = compiledServer("signOut", () => session.logout());
const about = compiledServer("about", () => {
  const { sid, issued_at } = session;
  return { sid, issued_at, user: session.user() };
});
const editors = compiledServer("editors", () => session.require("editor" as never).sub);
const page = compiledPage("/page", () => `user ${see()}`);
const read = compiledRoute("GET /read", () => new Response(see()));
const write = compiledRoute("POST /write", async (sent) => new Response(`${see()} ${await sent.text()}`));
const shared = compiledRoute(
  "GET /shared",
  () => new Response("data", { headers: { "cache-control": "public, max-age=60", "cdn-cache-control": "max-age=60" } }),
);
export const MODULE = { open, secret, ticks, upload, feed, signIn, signOut, about, editors, page, read, write, shared };

export const authenticate: Authenticate = async (token) => USERS[token] ?? null;

export function createApp(options: Partial<AppOptions> = {}): App {
  return createTestApp(MODULE, { env: ENV, authenticate, log, ...options });
}

interface Sent extends RequestInit {
  readonly duplex?: "half";
}

export function send(app: App, path: string, init: Sent = {}): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, init), { address: "192.0.2.1" });
}

export type Headers = Readonly<Record<string, string>>;

export function call(app: App, name: string, headers: Headers, args: object = {}): Promise<Response> {
  const body = JSON.stringify({ args });
  return send(app, `/__web/rpc/${name}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
}

function sendFile(app: App, headers: Headers): Promise<Response> {
  const form = new FormData();
  form.set("file", new File(["text"], "a.txt"));
  return send(app, "/__web/form/upload", { method: "POST", body: form, headers });
}

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The kinds of requests that accept a bearer token. Each handler calls `see`. */
export const KINDS: Readonly<Record<string, (app: App, headers: Headers) => Promise<Response>>> = {
  function: (app, headers) => call(app, "open", headers),
  "function with auth_required": (app, headers) => call(app, "secret", headers),
  stream: (app, headers) => call(app, "ticks", headers),
  "form with a file": sendFile,
  "GET route": (app, headers) => send(app, "/read", { headers }),
  "POST route": (app, headers) => send(app, "/write", { method: "POST", body: "text", headers }),
};

/** A feed that any client may use. It is of another application with the same secret, so that its call is not counted. */
const openFeed = feedOf(createApp(), {});

/** Live requests run no code of the application. */
export const LIVE: Readonly<Record<string, (app: App, headers: Headers) => Promise<Response>>> = {
  "event stream": async (app, headers) => send(app, `/__web/live?feed=${await openFeed}`, { headers }),
  poll: async (app, headers) => send(app, `/__web/poll?feed=${await openFeed}`, { headers }),
};

export async function feedOf(app: App, headers: Headers): Promise<string> {
  const { result } = await (await call(app, "feed", headers, { name: "room" })).json();
  return encodeURIComponent(result);
}

export async function expectInvalidToken(response: Response): Promise<void> {
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(await response.json()).toEqual({
    error: { code: "unauthenticated", message: "The bearer token is not valid.", details: {} },
  });
}
