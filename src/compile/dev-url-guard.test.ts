import fc from "fast-check";
import { expect, test } from "vitest";
import { namesServerModule } from "./dev-url-guard.ts";

test.each([
  "/src/accounts.server.ts",
  "/src/pages.server.tsx",
  "/src/a.server.js",
  "/src/a.server.jsx",
  "/src/a.server.mts",
  "/src/a.server.mjs",
  "/src/a.server.cts",
  "/@fs/home/me/app/src/accounts.server.ts",
  "/src/../src/accounts.server.ts",
  "/node_modules/../src/accounts.server.ts",
  "/src/%61ccounts.server.ts",
  "/src/accounts%2Eserver%2Ets",
  "/src/accounts%252Eserver.ts",
  "/src%2Faccounts.server.ts",
  "/src%5caccounts.server.ts",
  "/src\\accounts.server.ts",
  "/src/ACCOUNTS.SERVER.TS",
  "/src/accounts.server.ts.",
  "/src/accounts.server.ts%20",
  "/src/accounts.server.ts::$DATA",
  "/src/accounts.server.ts%00",
  "/src/accounts.server.ts%3Fraw",
  "/src/%FF/../accounts.server.ts",
  "/src/%accounts.server.ts",
  "/@id/src/accounts.server.ts",
  "/@id/__x00__/src/accounts.server.ts",
  "/src/accounts.server.ts/x",
])("%s names a server module", (path) => {
  expect(namesServerModule(path)).toBe(true);
});

test.each([
  "/",
  "/account",
  "/src/accounts.ts",
  "/src/server.ts",
  "/src/accounts.server.css",
  "/src/observer.ts",
  "/src/accounts.serverts",
  "/node_modules/preact/dist/x.server.js",
  "/node_modules/.vite/deps/x.server.mjs",
  "/%",
  "/%E0%A4%A",
])("%s names no server module", (path) => {
  expect(namesServerModule(path)).toBe(false);
});

test("a URL names a server module however its characters are percent-encoded", () => {
  const letters = [..."/src/accounts.server.ts"];
  const encoded = fc.array(fc.nat(3), { minLength: letters.length, maxLength: letters.length }).map((rounds) =>
    letters
      .map((letter, index) => {
        let text = letter;
        for (let round = 0; round < (rounds[index] ?? 0); round++) {
          text = [...text].map((character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
        }
        return text;
      })
      .join(""),
  );
  fc.assert(fc.property(encoded, (path) => namesServerModule(path)));
});
