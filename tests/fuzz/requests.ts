/** Requests that nobody would send, for the application of the wire suite. */
import type { Random } from "./random.ts";
import { oddRecord, oddValue } from "./values.ts";

/** A request as it is sent in process, and as a failure shows it. */
export interface OddRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** The body comes in pieces and without its length. */
  readonly pieces: boolean;
  /** Its sender goes away in the middle of it. */
  readonly breaks: boolean;
}

/** Functions that fail on nothing but their arguments. */
export const SOUND = [
  "ping",
  "nothing",
  "echo",
  "soon",
  "add",
  "half",
  "flag",
  "maybe",
  "order",
  "values",
  "whoami",
  "secret",
  "require_any",
  "require_admin",
  "about",
  "countdown",
  "plain",
  "silent",
  "secret_stream",
  "runs_of",
] as const;

/** What some of them take: with the right names, odd values come further. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  echo: ["value"],
  soon: ["value"],
  add: ["a", "b"],
  half: ["of"],
  flag: ["on"],
  maybe: ["n"],
  order: ["item", "quantity"],
  countdown: ["from"],
  runs_of: ["name"],
  refuse: ["code"],
  crash: ["password"],
  login: ["sub", "roles"],
  breaking: ["kind", "after"],
  login_stream: ["sub"],
};

/** Functions that throw, or that take what they are given further than they should. */
const UNSOUND = [
  "refuse",
  "crash",
  "cycle",
  "unknown_code",
  "missing",
  "login",
  "logout",
  "cookies",
  "breaking",
  "login_stream",
];

const PATHS: readonly [string, ...string[]] = [
  "/",
  "/me",
  "/users/1",
  "/gone",
  "/moved",
  "/nowhere",
  "/files/a",
  "/hooks/echo",
  "/robots.txt",
  "/healthz",
  "/readyz",
  "/__web/",
  "/__web/rpc",
  "/__web/rpc/",
  "/__web/poll",
  "/__web/openapi.json",
  "/assets/",
];

const METHODS: readonly [string, ...string[]] = [
  "POST",
  "GET",
  "HEAD",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "BREW",
  "post",
];

const HEADERS: Readonly<Record<string, (random: Random) => string>> = {
  "content-type": (random) =>
    random.pick([
      "application/json; charset=utf-16",
      "text/plain",
      "application/jsonx",
      "",
      "multipart/form-data; boundary=x",
    ]),
  origin: (random) => random.pick(["null", "http://shop.example", "https://evil.example", "http://", "x", "file://"]),
  "sec-fetch-site": (random) => random.pick(["same-origin", "cross-site", "same-site", "none", "x"]),
  "content-length": (random) => random.pick(["0", "1", "-1", "1e3", "999999999999", "x", "1, 1", "1048577"]),
  cookie: (random) => `web_session=${latin1(random.text(60))}; ${latin1(random.text(20))}`,
  "x-csrf-token": (random) => latin1(random.text(60)),
  "x-request-id": (random) => latin1(random.text(20)),
  traceparent: (random) => random.pick(["00-x", latin1(random.text(60)), `00-${"1".repeat(32)}-${"2".repeat(16)}-01`]),
  "x-forwarded-for": (random) => random.pick(["1.2.3.4", ",,,", "::1", latin1(random.text(40))]),
  "accept-encoding": (random) => random.pick(["br", "gzip;q=0", "*", latin1(random.text(20))]),
  range: (random) => random.pick(["bytes=0-0", "bytes=-1", "bytes=9-1", latin1(random.text(20))]),
  "if-none-match": (random) => latin1(random.text(20)),
  host: (random) => random.pick(["shop.example", "evil.example:80", "[::1]"]),
};

/** Keeps of a text what a header may hold. */
function latin1(text: string): string {
  return text.replace(/[^\t\x20-\x7e\xa0-\xff]/g, "").trim();
}

/** Makes a request up. */
export function oddRequest(random: Random): OddRequest {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (random.chance(25)) {
    const names = Object.keys(HEADERS);
    for (let count = random.below(4); count >= 0; count--) {
      const name = names[random.below(names.length)] ?? "";
      const value = HEADERS[name]?.(random);
      if (value !== undefined) headers[name] = value;
    }
  }
  const method = random.chance(92) ? "POST" : random.pick(METHODS);
  const path = oddPath(random);
  return {
    method,
    path,
    headers,
    body: method === "GET" || method === "HEAD" ? null : oddBody(random, path),
    pieces: random.chance(20),
    breaks: random.chance(2),
  };
}

function oddPath(random: Random): string {
  const kind = random.below(100);
  const query = random.chance(5) ? `?${escaped(random.text(20))}` : "";
  if (kind < 78) return `/__web/rpc/${SOUND[random.below(SOUND.length)]}${query}`;
  if (kind < 88) return `/__web/rpc/${UNSOUND[random.below(UNSOUND.length)]}${query}`;
  if (kind < 92) return `/__web/rpc/${escaped(random.text(12))}`;
  if (kind < 96) return random.pick(PATHS) + query;
  return `/${escaped(random.damage(Buffer.from(random.pick(PATHS))).toString("latin1"))}`;
}

/** Escapes what no address can hold, and now and then an escape of what is no letter. */
function escaped(text: string): string {
  return text.replace(
    /[^\x21-\x7e]|[#?\\]/g,
    (letter) => `%${(letter.charCodeAt(0) & 0xff).toString(16).padStart(2, "0")}`,
  );
}

/** Gives a function's own parameters, mostly all of them, odd values. */
function ownArguments(random: Random, path: string): Record<string, unknown> {
  const names = PARAMETERS[/^\/__web\/rpc\/(\w+)/.exec(path)?.[1] ?? ""] ?? [];
  return Object.fromEntries(names.filter(() => random.chance(90)).map((name) => [name, oddValue(random)]));
}

function oddBody(random: Random, path: string): Buffer {
  const kind = random.below(100);
  const args = () => JSON.stringify({ args: random.chance(60) ? ownArguments(random, path) : oddRecord(random) });
  if (kind < 40) return Buffer.from(args());
  if (kind < 75) return random.damage(Buffer.from(args()));
  if (kind < 85) return Buffer.from(JSON.stringify(oddValue(random)));
  if (kind < 92) return random.bytes(random.below(200));
  if (kind < 95) return Buffer.from(`{"args":${"[".repeat(random.below(3_000))}`);
  if (kind < 97) return Buffer.from(`{"args":{"value":"${"x".repeat(random.below(3_000))}"},"args":{},"more":1}`);
  if (kind < 98)
    return Buffer.concat([Buffer.from('{"args":{}}'), Buffer.alloc(1024 * 1024 - 20 + random.below(40), " ")]);
  return Buffer.alloc(random.below(4), "{");
}
