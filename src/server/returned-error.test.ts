import { h } from "preact";
import { expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { FORM_ENV, postForm } from "#test/join-app";
import { form } from "../pages/index.ts";
import { requireInternals } from "./index.ts";

/** Sends a form whose function returns `result`, and returns the warnings. */
async function warningsOf(result: unknown, { hasHandle = false, isDev = true } = {}): Promise<unknown[]> {
  const save = compiledServer("save", () => result);
  const home = compiledPage("/", () => h("form", { action: (hasHandle ? form(save) : save) as never }));
  const app = createTestApp({ save, home }, { env: FORM_ENV });
  const warn = vi.spyOn(requireInternals(app, "the test").log, "warn").mockReturnValue();
  if (isDev) setDevelopment(app);
  expect((await postForm(app, "/?__form=save")).status).toBe(200);
  return warn.mock.calls.map(([, message]) => message);
}

it.each([{ error: "No." }, { errors: { name: "No." }, ok: false }])(
  "a returned error that no handle shows is logged in development: %o",
  async (result) => {
    const [member = ""] = Object.keys(result);
    expect(await warningsOf(result)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^save \\(src/save\\.server\\.ts:1\\) returned { ${member}: … } to a form.* throw new RPCError\\(.*form\\(fn\\)`,
        ),
      ),
    ]);
    expect(await warningsOf(result, { hasHandle: true })).toEqual([]);
    expect(await warningsOf(result, { isDev: false })).toEqual([]);
  },
);

it.each([1, "error", { error: null }, { error: undefined, id: 1 }, ["error"]])(
  "another result is not logged: %o",
  async (result) => {
    expect(await warningsOf(result)).toEqual([]);
  },
);
