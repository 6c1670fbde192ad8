import { h } from "preact";
import { describe, expect, it } from "vitest";
import { renderPage } from "#test/render-page";
import { browserGlobalAdvice } from "./browser-globals.ts";

declare const missing: string;

/** Returns the error of a name that does not exist, in the words of the engine. */
function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

describe("browserGlobalAdvice", () => {
  it.each(["window", "localStorage", "navigator", "HTMLElement"])("explains where to use %s", (name) => {
    const advice = browserGlobalAdvice(new ReferenceError(`${name} is not defined`));
    expect(advice).toMatch(
      new RegExp(`^\`${name}\` exists in browsers only, .*on the server.* Use it in on_mount or in an`),
    );
  });

  it("recognises the error of the engine", () => {
    expect(browserGlobalAdvice(errorOf(() => document.title))).toContain("`document` exists in browsers only");
  });

  it.each([
    ["the error of another name", errorOf(() => missing)],
    ["an error with this message that the application has made", new Error("window is not defined")],
    ["an error with another message", new ReferenceError("Cannot access 'window' before initialization")],
    ["an error with a longer message", new ReferenceError("document is not defined in the schema")],
    ["a thrown text", "window is not defined"],
    ["null", null],
  ])("is empty for %s", (_name, error) => {
    expect(browserGlobalAdvice(error)).toBe("");
  });
});

describe("the log of a built application", () => {
  const Title = () => h("p", null, document.title);

  it("contains the advice for a component that uses a global of browsers", async () => {
    const { status, logged } = await renderPage(() => h(Title, {}));
    expect(status).toBe(500);
    expect(logged).toEqual([
      expect.stringMatching(
        /^The page \/ failed\. `document` exists in browsers only.* ReferenceError: document is not/,
      ),
    ]);
  });

  it("leaves the advice to the development server, which adds it to the error", async () => {
    const { logged } = await renderPage(() => h(Title, {}), {}, { showError: async () => "" });
    expect(logged).toEqual(["The page / failed ReferenceError: document is not defined"]);
  });
});
