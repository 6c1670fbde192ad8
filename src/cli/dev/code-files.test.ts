import { expect, it } from "vitest";
import { isCode } from "./code-files.ts";

it.each(["src/app.ts", "src/pages.server.tsx", "vite.config.mjs", "lib/a.cjs", ".env", ".env.local", "distance/a.ts"])(
  "%s is a file of the application's code",
  (file) => expect(isCode(file)).toBe(true),
);

it.each([
  "guests.txt",
  "data/db.json",
  "app.log",
  "node_modules/x/index.js",
  "dist/server.mjs",
  ".git/a.ts",
  "src/a.tsx~",
])("%s is not a file of the application's code", (file) => expect(isCode(file)).toBe(false));
