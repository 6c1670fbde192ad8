import * as preact from "preact";
import { h } from "preact";
import * as hooks from "preact/hooks";
import { describe, expect, it } from "vitest";
import { renderPage } from "#test/render-page";
import * as browser from "../browser/index.ts";
import * as tsweb from "../index.ts";
import { browserGlobalAdvice, dateMethodAdvice, missingImportAdvice, relativeUrlAdvice } from "./index.ts";

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

/** Returns the advice about the error of an expression, in which `order.at` and `at` are dates that were sent. */
function adviceFor(expression: string): string {
  const [at] = JSON.parse(JSON.stringify([new Date(0)]));
  try {
    new Function("at", "order", `return ${expression};`)(at, { at });
  } catch (error) {
    if (error instanceof Error) return dateMethodAdvice(error);
  }
  throw new Error(`${expression} threw no error.`);
}

describe("the advice about a date that has arrived as a string", () => {
  it.each([
    ["at.getTime()", "new Date(at).getTime()"],
    ["order.at.toLocaleDateString()", "new Date(order.at).toLocaleDateString()"],
    ["at.toISOString()", "new Date(at).toISOString()"],
    ["at.getUTCFullYear()", "new Date(at).getUTCFullYear()"],
    ["at.toLocaleTimeString()", "new Date(at).toLocaleTimeString()"],
  ])("states how to write %s", (expression, fix) => {
    expect(adviceFor(expression)).toContain(`Write \`${fix}\`.`);
  });

  it("is given in the words of Safari too", () => {
    const message = "at.getTime is not a function. (In 'at.getTime()', 'at.getTime' is undefined)";
    expect(dateMethodAdvice({ name: "TypeError", message })).toContain("If `at` is a date, it has arrived as a string");
  });

  it.each(["at.getName()", "at.missing.getTime()", "at()", "nothing.getTime()", "order.getTimes()"])(
    "is absent for another error: %s",
    (expression) => {
      expect(adviceFor(expression)).toBe("");
    },
  );

  it("is absent for errors of other types", () => {
    expect(dateMethodAdvice({ name: "Error", message: "at.getTime is not a function" })).toBe("");
    expect(dateMethodAdvice({ message: "at.getTime is not a function" })).toBe("");
  });
});

const adviceOf = (name: string) => missingImportAdvice(new ReferenceError(`${name} is not defined`));

describe("missingImportAdvice", () => {
  it.each([
    ["state", 'state is not imported. Import it from "tsweb/browser".'],
    ["redirect", 'redirect is not imported. Import it from "tsweb".'],
    ["RPCError", 'RPCError is not imported. Import it from "tsweb", or in a view from "tsweb/browser".'],
    ["useRef", 'useRef is not imported. Import it from "preact/hooks".'],
    ["Fragment", 'Fragment is not imported. Import it from "preact".'],
    [
      "useState",
      'useState is not imported. Use `state`, imported from "tsweb/browser", or import useState from "preact/hooks".',
    ],
  ])("names the module that exports %s", (name, advice) => {
    expect(adviceOf(name)).toBe(advice);
  });

  it.each(["guests", "window", "constructor", "process"])("says nothing about %s, which no module exports", (name) => {
    expect(adviceOf(name)).toBe("");
  });

  it("says nothing about other errors", () => {
    expect(missingImportAdvice(new Error("state is not defined"))).toBe("");
    expect(missingImportAdvice(new ReferenceError("Cannot access 'state' before initialization"))).toBe("");
  });

  it("knows each value that tsweb and tsweb/browser export, and only hooks and functions that Preact exports", () => {
    for (const name of Object.keys(browser)) expect(adviceOf(name)).toContain('"tsweb/browser"');
    for (const name of Object.keys(tsweb))
      expect([name, adviceOf(name)]).toEqual([name, expect.stringMatching(/"tsweb/)]);
    const names = [...Object.keys(hooks), ...Object.keys(preact)];
    for (const name of ["useRef", "useId", "useErrorBoundary", "createRef", "Fragment"]) {
      expect(names).toContain(name);
      expect(adviceOf(name)).toContain('"preact');
    }
  });
});

describe("relativeUrlAdvice", () => {
  it("advises to call a function in place of a fetch without an origin, as the error of the engine is", async () => {
    const error = await fetch("/api/guests?limit=3").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TypeError);
    expect(relativeUrlAdvice(error as TypeError)).toBe(
      "On the server, fetch needs a complete URL. To use what the application itself serves, call the function that the route " +
        "of /api/guests calls.",
    );
  });

  it("says nothing about other errors", () => {
    for (const message of ["Failed to parse URL from shop.example", "fetch failed"]) {
      expect(relativeUrlAdvice(new TypeError(message))).toBe("");
    }
    expect(relativeUrlAdvice(new Error("Failed to parse URL from /api"))).toBe("");
  });
});
