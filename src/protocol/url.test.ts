import { expect, it } from "vitest";
import { parseUrl } from "./url.ts";

it("parseUrl returns the URL of a host with other letters than ASCII, however often it is called", () => {
  const hosts = new Set(Array.from({ length: 30_000 }, () => parseUrl("https://bücher.example/")?.host));
  expect([...hosts]).toEqual(["xn--bcher-kva.example"]);
});

it.each(["", "/path", "shop.example", "https://", "https://a b", "https://shop.example:65536"])(
  "parseUrl returns null for %j",
  (text) => {
    expect(parseUrl(text)).toBeNull();
  },
);
