/** Reports of correct code that did not work, each with the test that shows what happens now. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { testTitles } from "../dist/test-titles.ts";

/** What was reported, and the file and the title of its test: without an extension, that of a test file. */
const REPORTS = [
  ["an object as a child beside an element", "tests/browser/islands", "if an object becomes a child beside an element"],
  ["the text of a textarea in a refused form", "src/pages/form-rendering", "are textareas too"],
  ["a linked package of a workspace", "tests/browser/vite-plugins", "is served in development only as far as browser"],
  ["plain CSS behind import()", "tests/browser/vite-plugins", "has the style sheets of import()"],
  ["using and await using", "src/compile/runtime-syntax", "disposes of resources in reverse order"],
  ["decorators and accessors", "src/compile/runtime-syntax", "accepts decorators that were compiled"],
  ["a function with $ in its name", "src/rpc/handle-call", "is accepted for a name with other characters"],
  ["a field named like a member", "tests/browser/islands-hydration", "does not stop its view, which changes, moves"],
  [
    "the first line feed of a textarea",
    "src/pages/templates",
    "the first line feed of an element that the HTML parser",
  ],
  ["a click before hydration", "tests/browser/islands-hydration", "on a button is done once when the view is there"],
  [
    "a handler that refuses characters",
    "tests/browser/islands-hydration",
    "shows the value of the state, also if that",
  ],
  ["an encoded path in lower case", "src/http/request-url", "finds every encoded letter, digit"],
  ["an export named delete", "src/compile/stubs", "have every name that an export can have"],
  ["an export named then", "src/compile/rules/then-export", "is checked for an export then too"],
  [
    "a timer of an edited module",
    "tests/system/dev-edits",
    "after an edit of a module stops it before the new one runs",
  ],
  ["a skipped view transition", "src/cli/dev/page/errors", "does not report that the browser has skipped a view"],
  ["packages that Vite finds late", "tests/browser/vite-plugins", "is bundled at the start, so that the first visit"],
  ["a syntax error saved in a view", "tests/browser/dev-errors.ts", "of syntax in a view (%s) is shown in an overlay"],
  [
    "the name of a form's function in the access log",
    "src/observe/access-log",
    "has the function of a form that a browser",
  ],
  ["the lang of a document", "src/pages/document-attributes", "are set by a page, and render nothing in their place"],
  [
    "a database file beside Tailwind",
    "tests/browser/vite-plugins",
    "a page gets edits of MDX, new classes of Tailwind",
  ],
] as const;

it.each(REPORTS)("%s has a test", (_report, file, title) => {
  const path = file.endsWith(".ts") ? file : `${file}.test.ts`;
  const titles = testTitles(readFileSync(join(repository, path), "utf8"));
  expect(titles.some((each) => each.includes(title))).toBe(true);
});
