import module from "node:module";
import { afterEach, expect, it, vi } from "vitest";
import { storeCompiledCode } from "./compile-cache.ts";

/** Node 20 does not have the function. */
const newer = module as { enableCompileCache?: unknown };
const original = newer.enableCompileCache;
afterEach(() => {
  newer.enableCompileCache = original;
});

it("stores compiled code in the folder where Node can, and otherwise does nothing", () => {
  const enable = vi.fn();
  newer.enableCompileCache = enable;
  storeCompiledCode(new URL("file:///srv/my%20shop/dist/.compile-cache/"));
  expect(enable.mock.calls).toEqual([["/srv/my shop/dist/.compile-cache/"]]);
  newer.enableCompileCache = undefined;
  expect(() => storeCompiledCode(new URL("file:///srv/shop/"))).not.toThrow();
});
