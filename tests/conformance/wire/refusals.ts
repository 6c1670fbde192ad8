/** Rows: what is refused before a function runs, in the order of the design's section 4. */
import assert from "node:assert/strict";
import {
  type Ask,
  calling,
  JSON_TYPE,
  type Refused,
  type Row,
  refusal,
  result,
  row,
  type Site,
  signedIn,
} from "./exchange.ts";

const MIB = 1024 * 1024;

const refuses = (name: string, ask: Ask, wanted: Refused, more: Partial<Pick<Row, "variant" | "first">> = {}): Row =>
  row(
    name,
    async (site) => {
      await refusal(site, ask, wanted);
    },
    more,
  );

const NOT_POST: Refused = { status: 405, code: "validation_error", closes: true, headers: { allow: "POST" } };
const NOT_JSON: Refused = { status: 415, code: "validation_error", closes: true };
const FOREIGN: Refused = { status: 403, code: "forbidden", closes: true };
const TOO_MANY: Refused = {
  status: 429,
  code: "rate_limited",
  closes: true,
  headers: { "retry-after": /^[1-9]\d*$/ },
};
const UNKNOWN: Refused = { status: 404, code: "not_found", closes: true };
const SIGNED_OUT: Refused = { status: 401, code: "unauthenticated", closes: true };
const TOO_LARGE: Refused = { status: 413, code: "validation_error", closes: true };
const BAD_BODY: Refused = { status: 422, code: "validation_error" };

const methods: readonly Row[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) =>
    refuses(`405 for ${method}`, { method, path: "/__web/rpc/ping" }, NOT_POST),
  ),
  refuses(
    "405 says how the function is called",
    { path: "/__web/rpc/countdown" },
    {
      ...NOT_POST,
      details: { parameters: ["from"], stream: true },
    },
  ),
  row("405 for HEAD, without a body", async (site) => {
    const { status, headers, text } = await site.send({ method: "HEAD", path: "/__web/rpc/ping" });
    assert.deepEqual([status, headers.get("allow"), text], [405, "POST", ""]);
    assert.match(headers.get("x-request-id") ?? "", /./);
  }),
  row("405 for a browser's preflight: nothing is allowed to another site", async (site) => {
    await refusal(
      site,
      {
        method: "OPTIONS",
        path: "/__web/rpc/ping",
        headers: {
          origin: "https://evil.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      },
      NOT_POST,
    );
  }),
];

const typed = (type: string | null): Ask => {
  const { headers: _, ...rest } = calling("ping");
  return type === null ? rest : { ...rest, headers: { "content-type": type } };
};

const types: readonly Row[] = [
  ...[
    null,
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json5",
    "application/json-patch+json",
    "application/ld+json",
    "application/vnd.api+json",
    "text/plain; application/json",
    "text/plain; a=application/json",
  ].map((type) => refuses(`415 for the content type ${JSON.stringify(type)}`, typed(type), NOT_JSON)),
  // What cannot be read as a type at all, a server around us may refuse by itself.
  ...["", "application/json, text/plain", "application /json", "application/js\u00f6n"].map((type) =>
    refuses(`415 for the content type ${JSON.stringify(type)}`, typed(type), NOT_JSON, { first: "routes" }),
  ),
  ...["application/json", "Application/JSON", "application/json;charset=utf-8", "application/json ; charset=UTF-8"].map(
    (type) =>
      row(`200 for the content type ${type}`, async (site) => {
        await result(site, "ping", {}, { "content-type": type });
      }),
  ),
];

/** Bodies of exactly so many bytes. */
const sized = (bytes: number, more: Partial<Ask> = {}): Ask => {
  const empty = JSON.stringify({ args: { value: "" } }).length;
  return { ...calling("echo"), body: JSON.stringify({ args: { value: "x".repeat(bytes - empty) } }), ...more };
};

const takes = (name: string, ask: Ask): Row =>
  row(name, async (site) => assert.equal((await site.send(ask)).status, 200));

const sizes: readonly Row[] = [
  takes("200 for a body of 1 MiB less one byte", sized(MIB - 1)),
  takes("200 for a body of 1 MiB", sized(MIB)),
  refuses("413 for a body of 1 MiB and one byte", sized(MIB + 1), TOO_LARGE),
  takes("200 for a body of 1 MiB less one byte, of no declared length", sized(MIB - 1, { chunked: true })),
  takes("200 for a body of 1 MiB, of no declared length", sized(MIB, { chunked: true })),
  refuses("413 for a body of 1 MiB and one byte, of no declared length", sized(MIB + 1, { chunked: true }), {
    ...TOO_LARGE,
  }),
  refuses("413 before the body is sent", { ...calling("echo"), body: undefined as never, length: MIB + 1 }, TOO_LARGE, {
    first: "parses",
  }),
  refuses(
    "413 counts bytes and not letters",
    { ...calling("echo"), body: JSON.stringify({ args: { value: "\u00e9".repeat(MIB / 2) } }) },
    TOO_LARGE,
  ),
];

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const withBody = (name: string, body: string | Uint8Array, first?: "parses"): Row =>
  refuses(`422 for ${name}`, { ...calling("echo"), body }, BAD_BODY, first ? { first } : {});

const bodies: readonly Row[] = [
  withBody("no body", "", "parses"),
  withBody("a body that is not JSON", "{", "parses"),
  withBody("text after the JSON", '{"args":{}} x', "parses"),
  withBody("bytes that are no text", new Uint8Array([0xff, 0xfe, 0x00]), "parses"),
  ...["null", "1", '"args"', "true"].map((body) => withBody(`the body ${body}`, body, "parses")),
  ...["[]", '[{"args":{}}]', "{}", '{"args":null}', '{"args":[]}', '{"args":1}', '{"arg":{}}', '{"Args":{}}'].map(
    (body) => withBody(`the body ${body}`, body),
  ),
  withBody("a key named __proto__", '{"args":{"value":{"__proto__":{"polluted":1}}}}'),
  withBody("arguments that nest deeper than 64", `{"args":{"value":${nested(64)}}}`),
  takes("200 for arguments that nest 64 deep", { ...calling("echo"), body: `{"args":{"value":${nested(63)}}}` }),
  withBody("arguments that nest 100,000 deep", `{"args":{"value":${nested(100_000)}}}`, "parses"),
  takes("200 for keys beside args, which are passed over", { ...calling("ping"), body: '{"args":{},"id":1}' }),
  takes("200 for half of a pair of surrogates", {
    ...calling("echo"),
    body: '{"args":{"value":"\\ud800"}}',
  }),
];

const functions: readonly Row[] = [
  ...["nowhere", "toString", "__proto__", "constructor", "Ping", "ping/", "ping/x", ""].map((name) =>
    refuses(`404 for the function ${JSON.stringify(name)}`, calling(name), UNKNOWN),
  ),
  refuses("404 for what a module exports without a mark", calling("runs"), UNKNOWN),
  takes("200 for a name that is percent-encoded", calling("pin%67")),
];

const csrf = { variant: "csrf" } as const;
const sessions: readonly Row[] = [
  refuses("401 for auth_required, signed out", calling("secret"), SIGNED_OUT),
  refuses("401 for a cookie that was changed", calling("secret", {}, { cookie: "web_session=e30.AAAA" }), SIGNED_OUT),
  refuses("401 before the token is looked at", calling("secret", {}, { "x-csrf-token": "x" }), SIGNED_OUT, csrf),
  row("200 for auth_required, signed in", async (site) => {
    assert.equal((await result(site, "secret", {}, await signedIn(site))).value, "ada");
  }),
  row("403 without the token, and with a wrong one; the refusal brings a fresh one", tokenRow, csrf),
  row(
    "200 with the token",
    async (site) => {
      assert.equal((await result(site, "secret", {}, await signedIn(site))).value, "ada");
    },
    csrf,
  ),
  row(
    "200 without a token for what asks for none",
    async (site) => {
      await result(site, "ping", {}, { cookie: (await signedIn(site)).cookie ?? "" });
    },
    csrf,
  ),
];

async function tokenRow(site: Site): Promise<void> {
  const { cookie = "" } = await signedIn(site);
  for (const token of [undefined, "", "x", "a.b"]) {
    const headers = { cookie, ...(token === undefined ? {} : { "x-csrf-token": token }) };
    const refused = await refusal(site, calling("secret", {}, headers), {
      status: 403,
      code: "forbidden",
      closes: true,
    });
    const fresh = refused.headers.get("x-csrf-token") ?? "";
    assert.equal((await result(site, "secret", {}, { cookie, "x-csrf-token": fresh })).value, "ada");
  }
}

/** A client of its own for each row: the rate counts them apart. */
const client = (address: string) => ({ "x-forwarded-for": address });

async function exhaust(site: Site, address: string): Promise<void> {
  for (let call = 0; call < 3; call++) await result(site, "ping", {}, client(address));
}

const rate = { variant: "rate" } as const;
const limited = (name: string, address: string, ask: Ask, wanted: Refused): Row =>
  row(
    name,
    async (site) => {
      await exhaust(site, address);
      await refusal(site, { ...ask, headers: { ...ask.headers, ...client(address) } }, wanted);
    },
    rate,
  );

const rates: readonly Row[] = [
  limited("429 over the rate, with Retry-After", "10.0.0.1", calling("ping"), TOO_MANY),
  row(
    "429 for a client alone, and IPv6 by its network",
    async (site) => {
      await exhaust(site, "2001:db8::1");
      await refusal(site, calling("ping", {}, client("2001:db8::2")), TOO_MANY);
      await result(site, "ping", {}, client("2001:db8:0:1::1"));
      await result(site, "ping", {}, client("10.0.1.1"));
    },
    rate,
  ),
  row(
    "429 for a client that claims to be others: the proxy's word counts",
    async (site) => {
      await exhaust(site, "6.6.6.1, 10.0.0.2");
      await refusal(site, calling("ping", {}, client("6.6.6.2, 10.0.0.2")), TOO_MANY);
    },
    rate,
  ),
  limited("405 comes before 429", "10.0.0.3", { path: "/__web/rpc/ping" }, NOT_POST),
  limited(
    "415 comes before 429",
    "10.0.0.4",
    { ...calling("ping"), headers: { "content-type": "text/plain" } },
    NOT_JSON,
  ),
  limited("403 comes before 429", "10.0.0.5", calling("ping", {}, { origin: "null" }), FOREIGN),
  limited("429 comes before 404", "10.0.0.6", calling("nowhere"), TOO_MANY),
  limited("429 comes before 401", "10.0.0.7", calling("secret"), TOO_MANY),
  limited("429 comes before 413", "10.0.0.8", sized(MIB + 1), TOO_MANY),
  limited("429 comes before 422", "10.0.0.9", calling("add"), TOO_MANY),
  row(
    "what is refused with 415 and 403 does not count",
    async (site) => {
      const from = client("10.0.0.10");
      for (let call = 0; call < 5; call++) {
        await refusal(site, calling("ping", {}, { ...from, "content-type": "text/plain" }), NOT_JSON);
        await refusal(site, calling("ping", {}, { ...from, origin: "null" }), FOREIGN);
      }
      await exhaust(site, "10.0.0.10");
    },
    rate,
  ),
  row(
    "pages are not counted",
    async (site) => {
      for (let visit = 0; visit < 5; visit++) {
        const { status } = await site.send({ path: "/me", headers: client("10.0.0.11") });
        assert.equal(status, 200);
      }
    },
    rate,
  ),
];

const text = { "content-type": "text/plain" };
const evil = { origin: "https://evil.example" };
const huge = { ...JSON_TYPE, ...evil };

const orders: readonly Row[] = [
  refuses("405 comes before 415", { method: "PUT", path: "/__web/rpc/ping", headers: text, body: "x" }, NOT_POST),
  refuses("405 comes before 413", { ...sized(MIB + 1), method: "PUT" }, NOT_POST, { first: "parses" }),
  refuses("405 comes before 404", { path: "/__web/rpc/nowhere" }, { ...NOT_POST, details: {} }),
  refuses("415 comes before 403", { ...calling("ping"), headers: { ...text, ...evil } }, NOT_JSON),
  refuses("415 comes before 404", { ...calling("nowhere"), headers: text }, NOT_JSON),
  refuses("403 comes before 404", calling("nowhere", {}, evil), FOREIGN),
  refuses("403 comes before 413", { ...sized(MIB + 1), headers: huge }, FOREIGN),
  refuses("404 comes before 413", { ...sized(MIB + 1), path: "/__web/rpc/nowhere" }, UNKNOWN),
  refuses("401 comes before 413", { ...sized(MIB + 1), path: "/__web/rpc/secret" }, SIGNED_OUT),
  refuses("401 comes before 422", { ...calling("secret"), body: "{" }, SIGNED_OUT, { first: "parses" }),
  row(
    "403 of the token comes before 422, and the function does not run",
    async (site) => {
      const { cookie = "" } = await signedIn(site);
      const before = (await result(site, "runs_of", { name: "secret" })).value;
      await refusal(site, { ...calling("secret", {}, { cookie }), body: '{"args":1}' }, FOREIGN);
      assert.equal((await result(site, "runs_of", { name: "secret" })).value, before);
    },
    csrf,
  ),
];

export const refusalRows: readonly Row[] = [
  ...methods,
  ...types,
  ...sizes,
  ...bodies,
  ...functions,
  ...sessions,
  ...rates,
  ...orders,
];
