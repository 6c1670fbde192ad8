/** Rows: whose page may call. */
import { calling, type Row, refusal, result, row, type Site } from "./exchange.ts";

type Headers = Readonly<Record<string, string>>;

const more = (variant: Row["variant"]) => ({ variant });

const passes = (name: string, headers: (site: Site) => Headers, variant: Row["variant"] = "plain"): Row =>
  row(`200 for ${name}`, async (site) => void (await result(site, "ping", {}, headers(site))), more(variant));

const stops = (name: string, headers: (site: Site) => Headers, variant: Row["variant"] = "plain"): Row =>
  row(
    `403 for ${name}`,
    async (site) => {
      const before = (await result(site, "runs_of", { name: "ping" })).value;
      await refusal(site, calling("ping", {}, headers(site)), { status: 403, code: "forbidden", closes: true });
      const after = (await result(site, "runs_of", { name: "ping" })).value;
      if (before !== after) throw new Error("The function ran.");
    },
    more(variant),
  );

const other = (site: Site) => site.origin.replace(/(:\d+)?$/, ":1");

export const originRows: readonly Row[] = [
  passes("a script, which sends neither header", () => ({})),
  passes("a page of this site", ({ origin }) => ({ origin, "sec-fetch-site": "same-origin" })),
  passes("a page of this site, by an old browser", ({ origin }) => ({ origin })),
  passes("Sec-Fetch-Site same-origin alone", () => ({ "sec-fetch-site": "same-origin" })),
  passes("Sec-Fetch-Site none", () => ({ "sec-fetch-site": "none" })),
  passes("the Host that was asked for", () => ({ host: "other.example:8080", origin: "http://other.example:8080" })),
  stops("Origin null", () => ({ origin: "null" })),
  stops("an empty Origin", () => ({ origin: "" })),
  stops("another site", () => ({ origin: "https://evil.example" })),
  stops("another site that claims to be this one", () => ({
    origin: "https://evil.example",
    "sec-fetch-site": "same-origin",
  })),
  stops("another port", (site) => ({ origin: other(site) })),
  stops("another scheme", ({ origin }) => ({ origin: origin.replace("http:", "https:") })),
  stops("an origin that begins as ours does", ({ origin }) => ({ origin: `${origin}.evil.example` })),
  stops("two origins", ({ origin }) => ({ origin: `${origin} https://evil.example` })),
  stops("an origin with a path", ({ origin }) => ({ origin: `${origin}/` })),
  stops("a sibling site, without Origin", () => ({ "sec-fetch-site": "same-site" })),
  stops("another site, without Origin", () => ({ "sec-fetch-site": "cross-site" })),
  stops("a Sec-Fetch-Site that nobody knows", () => ({ "sec-fetch-site": "x" })),
  stops("a forwarded host that nobody is trusted to tell", () => ({
    origin: "https://evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
  })),

  passes("an origin of WEB_ORIGIN", () => ({ origin: "https://shop.example" }), "origin"),
  passes("another origin of WEB_ORIGIN", () => ({ origin: "https://www.shop.example" }), "origin"),
  passes("a script, under WEB_ORIGIN", () => ({}), "origin"),
  stops("the Host, where WEB_ORIGIN says another", ({ origin }) => ({ origin }), "origin"),
  stops("WEB_ORIGIN with another scheme", () => ({ origin: "http://shop.example" }), "origin"),
  stops("another site, under WEB_ORIGIN", () => ({ origin: "https://evil.example" }), "origin"),

  passes(
    "the origin that the proxy was asked under",
    () => ({ origin: "https://shop.example", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example" }),
    "proxy",
  ),
  passes(
    "the scheme of the proxy alone",
    ({ origin }) => ({ origin: origin.replace("http:", "https:"), "x-forwarded-proto": "https" }),
    "proxy",
  ),
  passes("a connection past the proxy", ({ origin }) => ({ origin }), "proxy"),
  passes(
    "the host that the nearest proxy tells",
    () => ({
      origin: "https://shop.example",
      "x-forwarded-proto": "http, https",
      "x-forwarded-host": "evil.example, shop.example",
    }),
    "proxy",
  ),
  stops(
    "a host that the client claimed",
    () => ({
      origin: "https://evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example, shop.example",
    }),
    "proxy",
  ),
  stops(
    "a forwarded scheme that is none",
    () => ({ origin: "file://shop.example", "x-forwarded-proto": "file", "x-forwarded-host": "shop.example" }),
    "proxy",
  ),
  stops(
    "another scheme than the proxy's",
    () => ({ origin: "http://shop.example", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example" }),
    "proxy",
  ),
];
