import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, createTestApp, getPage } from "#test/compiled-app";
import { readTestModule } from "#test/in-memory-modules";
import { DEFERRED_SCRIPT, DEFERRED_SCRIPT_PATH, deferredUrl } from "./later-scripts.ts";
import { view } from "./view.ts";

describe("a view that is hydrated later", () => {
  it("has an address of its own for each island", () => {
    const url = deferredUrl("/shop", { when: "idle", island: 1, src: "/shop/a'b#c.js", name: "Low" });
    const [path, query = ""] = url.split("?");
    expect(path).toBe(`/shop${DEFERRED_SCRIPT_PATH}`);
    expect(JSON.parse(decodeURIComponent(query))).toEqual(["idle", 1, "/shop/a'b#c.js", "Low"]);
  });

  it("takes its function after the options", () => {
    const Low = view({ hydrate: "visible" }, () => h("b", null, "low"), { file: "src/low.tsx", name: "Low" });
    expect(Low.displayName).toBe("Low");
  });

  it("has its option in what the compile step reads", () => {
    const { views } = readTestModule(
      "src/low.tsx",
      `import { view } from "tsweb/browser";
       export const Low = view({ hydrate: "visible" }, () => null);
       export const Idle = view({ hydrate: "idle" }, () => null);
       export const Now = view(() => null);`,
    );
    expect(views.map(({ hydrate }) => hydrate)).toEqual(["visible", "idle", undefined]);
  });

  it.each([
    '{ hydrate: "never" }',
    "{ hydrate: when }",
    "{}",
    '{ hydrate: "idle", other: 1 }',
    "options",
    '{ ...{ hydrate: "idle" } }',
  ])("rejects the options %s", (options) => {
    const code = `import { view } from "tsweb/browser"; export const Low = view(${options}, () => null);`;
    const message = 'The only option of a view is { hydrate: "visible" } or { hydrate: "idle" }, written as text.';
    expect(() => readTestModule("src/low.tsx", code)).toThrow(message);
  });

  it("is imported by a module that the application serves for a year", async () => {
    const home = compiledPage("/", () => null);
    const response = await getPage(createTestApp({ home }, { base: "/shop" }), `/shop${DEFERRED_SCRIPT_PATH}`);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await response.text()).toBe(DEFERRED_SCRIPT);
  });
});
