/** Rows: the ids of every answer, whatever it is an answer of. */
import assert from "node:assert/strict";
import { type Ask, calling, cookieOf, type Row, result, row, type Site, send } from "./exchange.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

interface Kind {
  readonly name: string;
  readonly status: number;
  readonly ask: Ask | ((site: Site) => Promise<Ask>);
  readonly more?: Partial<Pick<Row, "variant" | "first">>;
}

const KINDS: readonly Kind[] = [
  { name: "a page", status: 200, ask: { path: "/" } },
  { name: "a page's head", status: 200, ask: { method: "HEAD", path: "/" } },
  { name: "a redirect", status: 303, ask: { path: "/moved" } },
  { name: "a page's other address", status: 308, ask: { path: "/me/" } },
  { name: "a file", status: 200, ask: { path: "/robots.txt" } },
  { name: "a file that is not modified", status: 304, ask: unmodified },
  { name: "a script", status: 200, ask: script },
  { name: "no page", status: 404, ask: { path: "/nowhere" } },
  { name: "another method of a page", status: 405, ask: { method: "PUT", path: "/" } },
  { name: "a page that fails", status: 500, ask: { path: "/broken" } },
  { name: "a page signed out", status: 401, ask: { path: "/refused/unauthenticated" } },
  { name: "a page that is forbidden", status: 403, ask: { path: "/refused/forbidden" } },
  { name: "a path that cannot be read", status: 400, ask: { path: "/a%00" }, more: { first: "routes" } },
  { name: "a route", status: 201, ask: { method: "POST", path: "/hooks/echo", body: "x" } },
  { name: "a route that fails", status: 500, ask: { method: "POST", path: "/hooks/broken" } },
  { name: "health", status: 200, ask: { path: "/healthz" } },
  { name: "readiness", status: 200, ask: { path: "/readyz" } },
  { name: "a call", status: 200, ask: calling("ping") },
  { name: "a stream", status: 200, ask: calling("countdown") },
  { name: "a stream that breaks", status: 200, ask: calling("breaking", { kind: "rpc" }) },
  { name: "a call's other method", status: 405, ask: { path: "/__web/rpc/ping" } },
  { name: "a call's other type", status: 415, ask: calling("ping", {}, { "content-type": "text/plain" }) },
  { name: "a call of another site", status: 403, ask: calling("ping", {}, { origin: "null" }) },
  { name: "no function", status: 404, ask: calling("nowhere") },
  { name: "a call signed out", status: 401, ask: calling("secret") },
  {
    name: "a body too large",
    status: 413,
    ask: { ...calling("echo"), body: " ".repeat(1024 * 1024 + 1) },
    more: { first: "parses" },
  },
  { name: "arguments that are refused", status: 422, ask: calling("add") },
  { name: "a call that takes too long", status: 504, ask: calling("late") },
  { name: "a call that fails", status: 500, ask: calling("crash", { password: "x" }) },
  { name: "a call over the rate", status: 429, ask: overTheRate, more: { variant: "rate" } },
];

async function unmodified(site: Site): Promise<Ask> {
  const { headers } = await send(site, { path: "/robots.txt" });
  return { path: "/robots.txt", headers: { "if-none-match": headers.get("etag") ?? "none" } };
}

/** The address of a script, as the page has it. */
async function script(site: Site): Promise<Ask> {
  const { text } = await send(site, { path: "/" });
  const [, path = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
  return { path: path.slice(site.base.length) };
}

async function overTheRate(site: Site): Promise<Ask> {
  const from = { "x-forwarded-for": "10.1.0.1" };
  for (let call = 0; call < 4; call++) await send(site, calling("ping", {}, from));
  return calling("ping", {}, from);
}

const asked = async ({ ask }: Kind, site: Site, headers: Readonly<Record<string, string>>): Promise<Ask> => {
  const plain = typeof ask === "function" ? await ask(site) : ask;
  return { ...plain, headers: { ...plain.headers, ...headers } };
};

const carried = (kind: Kind): Row =>
  row(
    `X-Request-Id and traceparent are carried on: ${kind.name}, ${kind.status}`,
    async (site) => {
      const ids = { "x-request-id": "a-Z0.9_1", traceparent: `00-${TRACE}-${PARENT}-01` };
      const { status, headers } = await send(site, await asked(kind, site, ids));
      assert.equal(status, kind.status);
      assert.equal(headers.get("x-request-id"), "a-Z0.9_1");
      const [, trace, span, flags] = (headers.get("traceparent") ?? "").split("-");
      assert.deepEqual([trace, flags], [TRACE, "01"]);
      assert.notEqual(span, PARENT);
    },
    kind.more,
  );

const begun = (kind: Kind): Row =>
  row(
    `X-Request-Id and traceparent are begun: ${kind.name}, ${kind.status}`,
    async (site) => {
      const one = await send(site, await asked(kind, site, {}));
      const other = await send(site, await asked(kind, site, {}));
      assert.deepEqual([one.status, other.status], [kind.status, kind.status]);
      assert.match(one.headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/);
      for (const name of ["x-request-id", "traceparent"])
        assert.notEqual(one.headers.get(name), other.headers.get(name));
    },
    kind.more,
  );

const BAD_IDS = ["", " ", "a b", "a".repeat(129), 'x","forged":"', "<script>", "a/b", "é"];
const BAD_TRACES = [
  "",
  "x",
  `ff-${TRACE}-${PARENT}-01`,
  `00-${"0".repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${TRACE}-${PARENT}`,
];

export const idRows: readonly Row[] = [
  ...KINDS.flatMap((kind) => [carried(kind), begun(kind)]),
  row("an id of 128 letters is taken", async (site) => {
    const id = "a".repeat(128);
    assert.equal((await result(site, "about", {}, { "x-request-id": id })).value.id, id);
  }),
  ...BAD_IDS.map((id) =>
    row(`an id is refused: ${JSON.stringify(id.slice(0, 20))}`, async (site) => {
      const { headers, value } = await result(site, "about", {}, { "x-request-id": id });
      assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/);
      assert.equal(value.id, headers.get("x-request-id"));
    }),
  ),
  ...BAD_TRACES.map((trace) =>
    row(`a traceparent is refused: ${JSON.stringify(trace)}`, async (site) => {
      const { headers } = await result(site, "ping", {}, { traceparent: trace });
      assert.doesNotMatch(headers.get("traceparent") ?? "", new RegExp(TRACE));
    }),
  ),
  row("a traceparent of a later version is answered in ours", async (site) => {
    const { headers } = await result(site, "ping", {}, { traceparent: `cc-${TRACE}-${PARENT}-ff-more` });
    assert.match(headers.get("traceparent") ?? "", new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  }),
  row("no cookie is set that nobody asked for", async (site) => {
    for (const ask of [{ path: "/" }, { path: "/nowhere" }, calling("ping")]) {
      assert.equal(cookieOf(await send(site, ask)), "");
    }
  }),
];
