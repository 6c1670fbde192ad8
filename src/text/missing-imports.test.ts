import * as preact from "preact";
import * as hooks from "preact/hooks";
import { describe, expect, it } from "vitest";
import * as browser from "../browser/index.ts";
import * as tsweb from "../index.ts";
import { missingImportAdvice } from "./index.ts";

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
