import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { adaptViteClient } from "./page-scripts.ts";

const vite = dirname(createRequire(import.meta.url).resolve("vite/package.json"));
const file = join(vite, "dist/client/client.mjs");

/** Returns the script of Vite for the browser, as the development server serves it. */
function adapted(): string {
  const { transform } = adaptViteClient();
  if (typeof transform !== "function") throw new Error("The plugin has no function transform.");
  const result: unknown = Reflect.apply(transform, {}, [readFileSync(file, "utf8"), file]);
  if (typeof result !== "object" || result === null || !("code" in result)) throw new Error("Nothing was changed.");
  return String(result.code);
}

it("the script of Vite in the browser writes what happens next and where the error is shown", () => {
  const code = adapted();
  expect(code).toContain(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the code of Vite
    "Failed to reload ${path}. The page stays as it is until the module is fixed, and the terminal of tsweb dev shows the error.",
  );
  expect(code).toContain(
    "[vite] tsweb dev restarts, or it has stopped. The page is loaded again as soon as it responds.",
  );
  expect(code).not.toMatch(/syntax errors|Polling/);
});

it("the script of Vite reloads pages with GET, creates no worker, and links no file in its overlay", () => {
  const code = adapted();
  expect(code).toMatch(/^const SharedWorker = undefined; /);
  expect(code).toContain('(history.replaceState(history.state, ""), location.reload())');
  expect(code).toContain("new ErrorOverlayConstructor(err, false)");
});
