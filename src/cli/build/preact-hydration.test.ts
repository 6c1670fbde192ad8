import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { parseAst } from "vite";
import { expect, test } from "vitest";
import { withoutSuspendedHydration } from "./client.ts";

const code = readFileSync(fileURLToPath(import.meta.resolve("preact")), "utf8");

test("the installed version of Preact loses the hydration of suspended components, and nothing else", () => {
  const text = withoutSuspendedHydration(code) ?? "";
  expect(text).not.toContain("__u|=128");
  expect(() => parseAst(text)).not.toThrow();
  const exported = (module: string) => /export\{.*\}/.exec(module)?.[0];
  expect(exported(text)).toBe(exported(code));
  expect(gzipSync(code).length - gzipSync(text).length).toBeGreaterThan(200);
});

test("another version stays as it is", () => {
  expect(withoutSuspendedHydration(code.replace("__u|=128", "__u|=64"))).toBeUndefined();
});
