import { afterEach, describe, expect, it, vi } from "vitest";
import { appOf, compiledPage, compiledServer } from "../../tests/support/compiled.ts";
import { node } from "./index.ts";

describe("mounting an application that was not built", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("says in the log that its pages come without scripts", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(appOf({ home: compiledPage("/", () => "Home") }));
    expect(log.mock.calls).toEqual([[expect.stringContaining("Run tsweb build, and mount dist/app.mjs instead.")]]);
  });

  it("says nothing where there are no pages, or somebody else gives it", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(appOf({ add: compiledServer("add", () => 1) }));
    node({ fetch: () => new Response() });
    expect(log).not.toHaveBeenCalled();
  });
});
