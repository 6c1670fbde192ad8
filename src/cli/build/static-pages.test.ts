import { expect, it } from "vitest";
import { formatHeaders } from "./static-pages.ts";

const outputOf = (...paths: readonly string[]) => ({
  base: "/shop",
  pages: paths.map((path) => ({
    path,
    file: "",
    html: "",
    hasForm: false,
    headers: [["x-frame-options", "DENY"]] as const,
  })),
  generated: [{ path: "/assets/a.json", text: "", headers: { "content-type": "application/json" } }],
});

it("lists the headers of each page and file by their paths", () => {
  expect(formatHeaders(outputOf("/", "/tags/a%2Ab"))).toBe(`/shop/
  x-frame-options: DENY
  cache-control: no-cache

/shop
  x-frame-options: DENY
  cache-control: no-cache

/shop/tags/a%2Ab
  x-frame-options: DENY
  cache-control: no-cache

/shop/assets/a.json
  content-type: application/json
`);
});

it("refuses a path with *, which would send the headers of its page with other pages", () => {
  expect(() => formatHeaders(outputOf("/", "/tags/a*b"))).toThrow(
    'The static page /tags/a*b has "*" in its path, which is a wildcard in _headers: its headers would be sent with other ' +
      "pages. Leave its parameters out of params, or write public/_headers yourself.",
  );
});
