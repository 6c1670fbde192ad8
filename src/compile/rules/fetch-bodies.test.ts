import { expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";

const check = (code: string) => readTestModule("src/a.ts", code);

test.each([
  [
    'fetch("/a", { method: "POST", body: «{ name } });',
    'fetch() sends no objects: this object is sent as the text "[object Object]". Write `body: JSON.stringify({ name })` and ' +
      '`headers: { "content-type": "application/json" }`.',
  ],
  [
    "await window.fetch(url, { ...rest, body: «[1, 2] } as RequestInit);",
    "this list is sent as a text without its brackets",
  ],
  ["globalThis.fetch(url, { body: («{ a: 1 } as any) });", "[object Object]"],
])("an object as the body of fetch is rejected: %s", async (code, message) => {
  const error = await compileErrorAt("src/a.ts", code);
  expect(error.message).toContain(message);
});

test.each([
  'fetch("/a", { body: JSON.stringify({ name }) });',
  'fetch("/a", { body: new URLSearchParams({ name }) });',
  "fetch(url, { body });",
  "fetch(url, { body: { a }, ...options });",
  "fetch(url, { body: { a }, [key]: 1 });",
  "fetch({ body: { a } });",
  "const fetch = wrap(); fetch(url, { body: { a } });",
  'import { fetch } from "./api.ts"; fetch(url, { body: { a } });',
  "api.fetch(url, { body: { a } }); $fetch(url, { body: { a } });",
])("another body is accepted: %s", (code) => {
  expect(() => check(code)).not.toThrow();
});
