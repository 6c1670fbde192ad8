import { describe, expect, it } from "vitest";
import { readBrowserError, type Sources } from "./browser-errors.ts";

const VIEW = { file: "/app/src/view.tsx", line: 7, column: 3 };

/** The sources of a page that has loaded one view. */
const sources: Sources = {
  root: "/app",
  publicDir: "/app/public",
  maps: {
    find: (path, line) => (path === "/__web/dev/src/view.tsx?t=1" && line === 9 ? VIEW : undefined),
    includes: (file) => file === VIEW.file,
  },
};

const stackOf = (report: object) => readBrowserError(report, sources).stack;
const site = "http://localhost:3000";

describe("the stack of an error of a page", () => {
  it.each([
    ["Chromium", `Error: x\n    at submit (${site}/__web/dev/src/view.tsx?t=1:9:4)`, "submit (/app/src/view.tsx:7:3)"],
    ["Chromium, without a function", `    at ${site}/__web/dev/src/view.tsx?t=1:9:4`, "/app/src/view.tsx:7:3"],
    ["Firefox", `submit@${site}/__web/dev/src/view.tsx?t=1:9:4\n`, "submit (/app/src/view.tsx:7:3)"],
    ["Safari", `@${site}/__web/dev/src/view.tsx?t=1:9:4`, "/app/src/view.tsx:7:3"],
    ["a component", `    at x._c [as constructor] (${site}/__web/dev/src/view.tsx?t=1:9:4)`, "/app/src/view.tsx:7:3"],
    ["a public script", `    at run (${site}/menu.js:2:3)`, "run (/app/public/menu.js:2:3)"],
  ])("of %s refers to the source", (_name, stack, expected) => {
    expect(stackOf({ stack })).toBe(`    at ${expected}`);
  });

  it.each([
    ["code of tsweb and Vite", `    at run (${site}/__web/dev/@vite/client:1:2)`],
    ["code that the compile step has added", `    at ${site}/__web/dev/src/view.tsx?t=1:1:1`],
    ["a file that no browser has loaded", `    at ${site}/__web/dev/src/secret.ts:9:4`],
    ["a file outside of the public folder", `    at ${site}/../src/guests.server.js:9:4`],
    ["a public file that is server-only, so that no browser receives it", `    at ${site}/keys.server.js:1:1`],
  ])("has no frame of %s", (_name, stack) => {
    expect(stackOf({ stack })).toBe("");
  });

  it("begins with the source of markup, if a browser has loaded the file [DEV-19]", () => {
    const source = { fileName: "/app/src/view.tsx", lineNumber: 4, columnNumber: 5 };
    expect(stackOf({ source })).toBe("    at /app/src/view.tsx:4:5");
    expect(stackOf({ source: { ...source, fileName: "src/view.tsx" } })).toBe("    at /app/src/view.tsx:4:5");
    for (const fileName of ["/app/.env", "/etc/passwd", "/app/src/../.env", "src/guests.server.ts"]) {
      expect(stackOf({ source: { ...source, fileName } })).toBe("");
    }
  });
});

describe("a report", () => {
  it.each([null, undefined, 1, "text", [], { name: 1, message: {}, stack: [], cause: 2 }])(
    "of another type than expected is an error without a message: %j",
    (report) => {
      expect(readBrowserError(report, sources)).toEqual({ name: "Error", message: "", stack: "" });
    },
  );

  it("is cut to a maximum size", () => {
    const frame = `    at ${site}/__web/dev/src/view.tsx?t=1:9:4\n`;
    const { name, message, stack } = readBrowserError(
      { name: "n".repeat(1e6), message: "m".repeat(1e6), stack: frame.repeat(1e5) },
      sources,
    );
    expect(name.length + message.length).toBeLessThan(5_000);
    expect(stack.length).toBeLessThan(20_000);
  });

  it.each([" ".repeat(20_000), "(@ ".repeat(6_000), `at ${"http://".repeat(2_000)}`, `${site}/${":1".repeat(9_000)}x`])(
    "is read in less than a second, whatever its stack is: %#",
    (stack) => {
      const startMs = performance.now();
      expect(stackOf({ stack })).toBe("");
      expect(performance.now() - startMs).toBeLessThan(1_000);
    },
  );

  it("has at most four causes", () => {
    const nested = Array.from({ length: 50 }).reduce<object>((cause) => ({ message: "x", cause }), {});
    let depth = 0;
    for (let each = readBrowserError(nested, sources).cause; each; each = each.cause) depth++;
    expect(depth).toBe(4);
  });

  it.each([
    `Unexpected token '<', "<!doctype "... is not valid JSON`,
    `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
    `Unexpected token '<', "<html><hea"... is not valid JSON`,
    "JSON Parse error: Unrecognized token '<'",
  ])("of a page that was read as JSON names the usual cause: %s", (message) => {
    const advice = "The response is HTML, not JSON: does the address exist?";
    expect(readBrowserError({ message }, sources).message).toBe(`${message}\n${advice}`);
  });

  it.each([`Unexpected token 'a', "abc" is not valid JSON`, `Unexpected token '<', "<3" is not valid JSON`, "No ink"])(
    "of another error is left as it is: %s",
    (message) => {
      expect(readBrowserError({ message }, sources).message).toBe(message);
    },
  );
});
