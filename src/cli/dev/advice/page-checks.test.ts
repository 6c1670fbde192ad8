import { EventEmitter } from "node:events";
import { beforeEach, expect, it } from "vitest";
import type { ExplainedError } from "../../errors/index.ts";
import { PageChecks } from "./page-checks.ts";

const inView: ExplainedError = {
  name: "Error",
  message: "localStorage exists in browsers only",
  location: "src/view.tsx:3:5",
  frame: "> 3 | localStorage",
  stack: "    at src/view.tsx:3:5",
};
const inServerModule = { ...inView, location: "src/pages.server.tsx:3:5" };

let version: string;
let checks: PageChecks;
let listeners: EventEmitter;

beforeEach(() => {
  version = "1";
  listeners = new EventEmitter();
  checks = new PageChecks({
    maps: { includes: (file) => file === "/app/src/view.tsx" },
    currentEdits: () => version,
  });
  const { configureServer } = checks.plugin();
  if (typeof configureServer !== "function") throw new Error("The plugin has no configureServer hook.");
  Reflect.apply(configureServer, undefined, [
    { environments: { client: { hot: listeners } }, config: { root: "/app" } },
  ]);
});

/** Reports a failure of a page. Returns what the page was sent. */
function report(value: unknown, remoteAddress = "127.0.0.1"): unknown[] {
  const sent: unknown[] = [];
  const socket = { _socket: { remoteAddress } };
  listeners.emit("tsweb:page-check", value, { send: (...args: unknown[]) => void sent.push(...args), socket });
  return sent;
}

it("shows an error of a module that a browser has loaded in the overlay of the page", () => {
  checks.record("a", { error: inView, edits: "1" });
  expect(report({ id: "a" })).toMatchObject([
    { type: "error", err: { message: "Error: localStorage exists in browsers only", loc: { file: "src/view.tsx" } } },
  ]);
});

it("reloads the page for an error of a server module, without its source", () => {
  checks.record("a", { error: inServerModule, edits: "1" });
  expect(report({ id: "a" })).toEqual([{ type: "full-reload", path: "*" }]);
});

it("has the page checked again if the files were edited since the request", () => {
  checks.record("a", { error: inView, edits: "1" });
  version = "2";
  expect(report({ id: "a" })).toEqual(["tsweb:page-check"]);
});

it.each(["192.168.0.9", ""])("sends nothing to another machine (%s)", (address) => {
  checks.record("a", { error: inView, edits: "1" });
  expect(report({ id: "a" }, address)).toEqual([]);
});

it.each([[{ id: "b" }], [{}], [null], ["a"]])("ignores a report without a known request: %j", (value) => {
  checks.record("a", { error: inView, edits: "1" });
  expect(report(value)).toEqual([]);
});

it("keeps the last 50 failures", () => {
  for (let id = 1; id <= 51; id++) checks.record(String(id), { error: inView, edits: "1" });
  expect([report({ id: "1" }), report({ id: "2" })]).toMatchObject([[], [{ type: "error" }]]);
});
