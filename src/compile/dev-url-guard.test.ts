import fc from "fast-check";
import { expect, test } from "vitest";
import { namesServerOnlyUrl } from "./dev-url-guard.ts";

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
  "/src/accounts.server.css",
  "/src/data.server.json",
  "/src/data.server.txt?raw",
  "/src/db.server/index.ts",
  "/src/db.server",
  "/src/DB.SERVER/index.ts",
  "/src/db%2Eserver/index.ts",
  "/src/db.server%2findex.ts",
  "/src/db.\u017Ferver.ts",
  "/src/db.%C5%BFerver.ts",
  "/src/db.se%E2%80%8Crver.ts",
  "/src/a%23b/db%2Eserver.ts",
  "/src/a%3Fb/db%2Eserver.ts",
  "/@fs/home/me/app.server/src/db.server.ts",
  "/@fs//home/me/app.server/src/db.server/index.ts",
  "/@id//home/me/app.server/src/db.server.json",
  "/@fs/home/me/other.server/x.ts",
  "/@id/__x00__tsweb-stub:src/db.server.ts.js?raw",
  "/@id/__x00__tsweb-stub:src/db.server.ts",
  "/@fs/C:/app/db.server.ts",
])("%s names a server-only file", (path) => {
  expect(namesServerOnlyUrl(path, "/home/me/app.server")).toBe(true);
});

test.each([
  "/",
  "/account",
  "/src/accounts.ts",
  "/src/server.ts",
  "/src/observer.ts",
  "/src/accounts.serverts",
  "/node_modules/preact/dist/x.server.js",
  "/node_modules/.vite/deps/x.server.mjs",
  "/%",
  "/%E0%A4%A",
  "/@id/__x00__tsweb-stub:src/db.server.ts.js",
  "/@id/__x00__tsweb-stub:src/db.server.ts.js?t=1",
  "/src/server/index.ts",
  "/src/db.servers/index.ts",
  "/src/db.server-side.css",
  "/@fs/home/me/app.server/src/view.tsx",
  "/@id//home/me/app.server/src/view.tsx",
  "/@fs/home/me/app.server/node_modules/x.server/index.js",
  "/@fs/home/me/x/../app.server/src/view.tsx",
])("%s names no server-only file", (path) => {
  expect(namesServerOnlyUrl(path, "/home/me/app.server")).toBe(false);
});

test("a URL names a server-only file however its characters are percent-encoded", () => {
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
  fc.assert(fc.property(encoded, (path) => namesServerOnlyUrl(path, "/home/me/app.server")));
});
