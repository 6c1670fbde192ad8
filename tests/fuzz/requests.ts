/** Generates requests for the application of the wire suite: valid ones, and invalid ones of every kind. */
import { generateForm } from "./forms.ts";
import { OTHER_FUNCTIONS, PARAMETERS, RELIABLE_FUNCTIONS } from "./functions.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { FuzzRandom } from "./random.ts";
import { generateObject, generateValue } from "./values.ts";

const PATHS: readonly [string, ...string[]] = [
  "/",
  "/me",
  "/users/1",
  "/removed",
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

const HEADERS: Readonly<Record<string, (random: FuzzRandom) => string>> = {
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
  cookie: (random) => `web_session=${toHeaderValue(random.text(60))}; ${toHeaderValue(random.text(20))}`,
  authorization: (random) =>
    random.pick([
      "Bearer token-of-robot",
      "Bearer",
      "Basic YTpi, Bearer x",
      `Bearer ${toHeaderValue(random.text(40))}`,
    ]),
  "x-csrf-token": (random) => toHeaderValue(random.text(60)),
  "x-request-id": (random) => toHeaderValue(random.text(20)),
  traceparent: (random) =>
    random.pick(["00-x", toHeaderValue(random.text(60)), `00-${"1".repeat(32)}-${"2".repeat(16)}-01`]),
  "x-forwarded-for": (random) => random.pick(["1.2.3.4", ",,,", "::1", toHeaderValue(random.text(40))]),
  "accept-encoding": (random) => random.pick(["br", "gzip;q=0", "*", toHeaderValue(random.text(20))]),
  range: (random) => random.pick(["bytes=0-0", "bytes=-1", "bytes=9-1", toHeaderValue(random.text(20))]),
  "if-none-match": (random) => toHeaderValue(random.text(20)),
  host: (random) => random.pick(["shop.example", "evil.example:80", "[::1]"]),
};

/** Returns a text without the characters that a header cannot contain. */
function toHeaderValue(text: string): string {
  return text.replace(/[^\t\x20-\x7e\xa0-\xff]/g, "").trim();
}

/** Returns the next request of a sequence. */
export function generateRequest(random: FuzzRandom): FuzzRequest {
  if (random.chance(0.2)) return generateForm(random);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (random.chance(0.25)) {
    const names = Object.keys(HEADERS);
    for (let count = random.below(4); count >= 0; count--) {
      const name = names[random.below(names.length)] ?? "";
      const value = HEADERS[name]?.(random);
      if (value !== undefined) headers[name] = value;
    }
  }
  const method = random.chance(0.92) ? "POST" : random.pick(METHODS);
  const path = generatePath(random);
  return {
    method,
    path,
    headers,
    body: method === "GET" || method === "HEAD" ? null : generateBody(random, path),
    chunked: random.chance(0.2),
    disconnects: random.chance(0.02),
  };
}

function generatePath(random: FuzzRandom): string {
  const kind = random.below(100);
  const query = random.chance(0.05) ? `?${percentEncode(random.text(20))}` : "";
  if (kind < 78) return `/__web/rpc/${RELIABLE_FUNCTIONS[random.below(RELIABLE_FUNCTIONS.length)]}${query}`;
  if (kind < 88) return `/__web/rpc/${OTHER_FUNCTIONS[random.below(OTHER_FUNCTIONS.length)]}${query}`;
  if (kind < 92) return `/__web/rpc/${percentEncode(random.text(12))}`;
  if (kind < 96) return random.pick(PATHS) + query;
  return `/${percentEncode(random.mutate(Buffer.from(random.pick(PATHS))).toString("latin1"))}`;
}

/** Percent-encodes each character that a URL cannot contain as one byte, which may make invalid UTF-8. */
function percentEncode(text: string): string {
  return text.replace(
    /[^\x21-\x7e]|[#?\\]/g,
    (character) => `%${(character.charCodeAt(0) & 0xff).toString(16).padStart(2, "0")}`,
  );
}

/** Returns generated values for most parameters of the function at a path. */
function generateArguments(random: FuzzRandom, path: string): Record<string, unknown> {
  const names = PARAMETERS[/^\/__web\/rpc\/(\w+)/.exec(path)?.[1] ?? ""] ?? [];
  return Object.fromEntries(names.filter(() => random.chance(0.9)).map((name) => [name, generateValue(random)]));
}

function generateBody(random: FuzzRandom, path: string): Buffer {
  const kind = random.below(100);
  const args = () =>
    JSON.stringify({ args: random.chance(0.6) ? generateArguments(random, path) : generateObject(random) });
  if (kind < 40) return Buffer.from(args());
  if (kind < 75) return random.mutate(Buffer.from(args()));
  if (kind < 85) return Buffer.from(JSON.stringify(generateValue(random)));
  if (kind < 92) return random.bytes(random.below(200));
  if (kind < 95) return Buffer.from(`{"args":${"[".repeat(random.below(3_000))}`);
  if (kind < 97) return Buffer.from(`{"args":{"value":"${"x".repeat(random.below(3_000))}"},"args":{},"more":1}`);
  if (kind < 98)
    return Buffer.concat([Buffer.from('{"args":{}}'), Buffer.alloc(1024 * 1024 - 20 + random.below(40), " ")]);
  return Buffer.alloc(random.below(4), "{");
}
