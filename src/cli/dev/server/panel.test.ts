import { describe, expect, it } from "vitest";
import { isPanelPath, mayUsePanel } from "./panel.ts";

type Request = Parameters<typeof mayUsePanel>[0];

/** Returns a request as a browser on this machine sends it, with changes. */
const requestOf = (
  headers: Readonly<Record<string, string | undefined>> = {},
  { address = "127.0.0.1", method = "GET" } = {},
) => ({ method, headers: { host: "localhost:3000", ...headers }, socket: { remoteAddress: address } }) as Request; // what is read of it

const SAME = { origin: "http://localhost:3000", "sec-fetch-site": "same-origin" };
const LINK = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

describe("the panel", () => {
  it.each<[string, Request]>([
    ["a request of this machine", requestOf()],
    ["one over IPv6", requestOf({ host: "[::1]:3000" }, { address: "::1" })],
    ["one of an IPv4 address in IPv6", requestOf({}, { address: "::ffff:127.0.0.1" })],
    ["a call of its own page", requestOf(SAME, { method: "POST" })],
    ["an address that the user has typed", requestOf({ "sec-fetch-site": "none" })],
    ["a link of another site", requestOf(LINK)],
  ])("serves %s", (_, request) => expect(mayUsePanel(request)).toBe(true));

  it.each<[string, Request]>([
    ["another machine that names localhost", requestOf({}, { address: "192.168.1.5" })],
    ["another machine that names this one", requestOf({ host: "192.168.1.2:3000" }, { address: "192.168.1.5" })],
    ["a site that points its name at this machine", requestOf({ host: "evil.example:3000" })],
    ["a site whose name looks like an address", requestOf({ host: "127.0.0.1.evil.example" })],
    ["no host", requestOf({ host: undefined })],
    ["a tunnel", requestOf({ "x-forwarded-for": "203.0.113.9" })],
    ["a proxy", requestOf({ forwarded: "for=203.0.113.9" })],
    ["a proxy that names the host only", requestOf({ "x-forwarded-host": "shop.example" })],
    ["a proxy that names the client only", requestOf({ "x-real-ip": "203.0.113.9" })],
    ["a proxy that names itself only", requestOf({ via: "1.1 proxy" })],
    ["a call of another site", requestOf({ origin: "https://evil.example" }, { method: "POST" })],
    ["a call of another port", requestOf({ origin: "http://localhost:4000", "sec-fetch-site": "same-site" })],
    ["a call of a sandboxed frame", requestOf({ origin: "null" }, { method: "POST" })],
    ["a script of another site", requestOf({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })],
    ["a script of another port", requestOf({ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })],
    ["a frame of another site", requestOf({ ...LINK, "sec-fetch-dest": "iframe" })],
    ["a form of another site", requestOf(LINK, { method: "POST" })],
    ["a form of another site with its origin", requestOf({ ...LINK, origin: "https://evil.example" })],
  ])("refuses %s [DEV-3]", (_, request) => expect(mayUsePanel(request)).toBe(false));

  it("has a path of its own, and none of the files that Vite serves", () => {
    const own = ["/__web/dev", "/__web/dev?q", "/__web/dev/", "/__web/dev/__web/rpc/a", "/__web/dev/__web/panel/a.js"];
    const others = ["/", "/__web/device", "/__web/dev/@vite/client", "/__web/dev/src/a.tsx", "/__web/dev/__website/a"];
    expect([own.filter((path) => !isPanelPath(path)), others.filter(isPanelPath)]).toEqual([[], []]);
  });
});
