import { type ComponentChildren, h, type VNode } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView } from "#test/compiled-app";
import { later } from "#test/page-parts";
import { pageSettings, renderPage } from "#test/render-page";
import { requestContextOf } from "#test/request-context";
import { run, runInContext } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import { Head } from "./document-elements.ts";
import { handlePage } from "./handle-page.ts";
import { type PageDefinition, pageOf } from "./page.ts";

let line = 0;

/** Creates an element as JSX does in development: with its location. */
function jsx(type: string, props: object | null, ...children: ComponentChildren[]): VNode {
  const __source = { fileName: "/app/src/a.tsx", lineNumber: ++line, columnNumber: 3 };
  return Object.assign(h(type, props, ...children), { __source }) as VNode;
}

/** Renders a page, and returns its status and its log lines without their prefix. */
async function check(markup: () => ComponentChildren, development = true) {
  line = 0;
  const { status, logged, body } = await renderPage(markup as never, {}, { development });
  return { status, body, problem: logged.join("\n") };
}

const inView = (markup: () => ComponentChildren) => {
  const View = compiledView("Rows", markup as never);
  return () => h("table", null, h(View, {}));
};

describe("markup that browsers repair", () => {
  it.each([
    [
      "a block in a paragraph",
      () => jsx("p", null, jsx("div", null)),
      /<div> cannot be inside <p>: browsers end the <p> before it.* Use <div> in place of <p>/,
    ],
    [
      "a form in a form",
      () => jsx("form", null, h("div", null, jsx("form", null))),
      /<form> cannot be inside <form>: browsers ignore the inner form.* formAction/,
    ],
    [
      "a link in a link",
      () => jsx("a", null, jsx("b", null, jsx("a", null))),
      /<a> cannot be inside <a>: browsers end the <a>/,
    ],
    ["a button in a button", () => jsx("button", null, jsx("button", null)), /<button> cannot be inside <button>/],
    [
      "an item that ends an item",
      () => jsx("li", null, jsx("li", null)),
      /<li> cannot be inside <li>.* list of its own/,
    ],
    [
      "a row outside a table",
      () => jsx("div", null, jsx("tr", null)),
      /<tr> cannot be inside <div>: browsers ignore it.* Put the <tr> into a <tbody>/,
    ],
    [
      "a block in a table",
      () => jsx("table", null, jsx("div", null)),
      /<div> cannot be inside <table>: browsers move it in front of the table/,
    ],
    ["text in a row", () => jsx("tr", null, "x"), /<tr> cannot be inside <body>/],
    [
      "a document in the page",
      () => jsx("html", null, h("p", null)),
      /<html> cannot be inside <body>: browsers ignore it.* tsweb writes <html>/,
    ],
  ])("is an error in development: %s", async (_, markup, message) => {
    const { status, problem } = await check(markup);
    expect(status).toBe(500);
    expect(problem).toMatch(message);
    expect((await check(markup, false)).status).toBe(200);
  });

  it("is an error at a text, too", async () => {
    const { problem } = await check(() => jsx("table", null, jsx("tbody", null, jsx("tr", null, "x"))));
    expect(problem).toContain("Text cannot be inside <tr>: browsers move it in front of the table");
    const number = await check(() => jsx("table", null, jsx("tbody", null, 0)));
    expect(number.problem).toContain("Text cannot be inside <tbody>");
    expect((await check(() => jsx("table", null, " \n", jsx("tbody", null)))).status).toBe(200);
  });

  it("names the component and has the location of the inner element", async () => {
    const Card = () => jsx("section", null, jsx("p", null, jsx("ul", null)));
    const errors: (Error & { loc?: unknown })[] = [];
    const log = {
      info() {},
      warn() {},
      refused() {},
      error: (fields: object) => void errors.push((fields as { err: Error }).err),
    };
    line = 0;
    await renderPage(() => h(Card, {}) as never, {}, { development: true, log });
    expect(errors[0]?.message).toContain("<ul> cannot be inside <p> (Card)");
    expect(errors[0]?.loc).toEqual({ file: "/app/src/a.tsx", line: 1, column: 2 });
  });

  it("is found across components", async () => {
    const Inner = () => h("div", null);
    const { problem } = await check(() => jsx("p", null, h(Inner, {})));
    expect(problem).toContain("<div> cannot be inside <p> (Inner)");
  });

  it("is a warning if both elements are those of a package", async () => {
    const { status, problem } = await check(() => h("p", null, h("div", null)));
    expect(status).toBe(200);
    expect(problem).toContain("<div> cannot be inside <p>");
  });
});

describe("elements that browsers insert", () => {
  it("are an error in a view, which would not match the page", async () => {
    const { status, problem } = await check(inView(() => jsx("tr", null, h("td", null))));
    expect(status).toBe(500);
    expect(problem).toContain(
      "<tr> cannot be inside <table> (Rows): browsers insert <tbody> between the two, so the page differs from the " +
        "markup, and the view cannot be hydrated. Write <table><tbody><tr>.",
    );
  });

  it("are no mistake outside views", async () => {
    const { status, problem } = await check(() => jsx("table", null, jsx("tr", null, jsx("td", null, "x"))));
    expect([status, problem]).toEqual([200, ""]);
    const cells = compiledView("Cells", () => jsx("td", null, "x") as never);
    expect((await check(() => jsx("table", null, jsx("tr", null, h(cells, {}))))).status).toBe(200);
  });
});

it("markup that browsers keep is no error", async () => {
  const { status, problem } = await check(() => [
    jsx("table", null, jsx("tbody", null, jsx("tr", null, jsx("td", null, jsx("div", null, jsx("p", null)))))),
    jsx("table", null, jsx("input", { type: "HIDDEN" }), jsx("caption", null, "x")),
    jsx("p", { dangerouslySetInnerHTML: { __html: "<div>x</div>" } }),
    jsx("tbody", { dangerouslySetInnerHTML: { __html: "x" } }).props.children as never,
    jsx(
      "p",
      null,
      jsx("button", null, jsx("span", null)),
      jsx("svg", null, jsx("foreignObject", null, jsx("div", null))),
    ),
    jsx("ul", null, jsx("li", null, jsx("ul", null, jsx("li", null, "x")))),
    jsx("a", null, jsx("div", null, jsx("h2", null, "x"))),
    jsx("select", null, jsx("option", null, jsx("b", null))),
    h(Head, null, jsx("title", null, "x")),
  ]);
  expect([status, problem]).toEqual([200, ""]);
});

describe("the markup of a part", () => {
  const row = () => jsx("tr", null, jsx("td", null, "cell")) as Markup;
  const block = () => jsx("div", null) as Markup;

  it.each<[string, () => ComponentChildren, RegExp]>([
    [
      "a block in rows",
      () => jsx("table", null, jsx("tbody", null, later(block))),
      /<div> cannot be inside <tbody>: browsers move it/,
    ],
    [
      "a block in a paragraph, in a part of a part",
      () =>
        jsx(
          "p",
          null,
          later(() => h("b", null, later(block))),
        ),
      /<div> cannot be inside <p>: browsers end the <p>/,
    ],
    [
      "a row in a table",
      () => jsx("table", null, later(row)),
      /<tr> cannot be inside <table>: .*Write <table><tbody><tr>/,
    ],
  ])("is checked with the elements around it: %s", async (_, markup, message) => {
    expect((await check(markup)).problem).toMatch(message);
  });

  it("may be rows of a body", async () => {
    const { status, problem, body } = await check(() => jsx("table", null, jsx("tbody", null, later(row))));
    expect([status, problem]).toEqual([200, ""]);
    expect(body).toContain("<tbody><tr><td>cell</td></tr></tbody>");
  });

  it("is not checked if it is the error page, which does not know its place", async () => {
    const { problem } = await check(() =>
      jsx(
        "p",
        null,
        later(() => Promise.reject(new Error("broken"))),
      ),
    );
    expect(problem).toMatch(/^<Later> \(.*a\.tsx:1:3\) failed Error: broken$/);
  });

  it("has no row in a table as its fallback, of which browsers insert only the end into the body", async () => {
    const page = pageOf(
      compiledPage(
        "/",
        () =>
          jsx(
            "table",
            null,
            later(() => null, row()),
          ) as Markup,
      ),
    );
    const context = requestContextOf(new Request("http://a.example/", { headers: { "sec-fetch-mode": "navigate" } }));
    const { settings, logged } = pageSettings({ development: true });
    await runInContext(context, () => run(handlePage(context, page as PageDefinition, {}, settings)));
    expect(logged.join()).toMatch(/<tr> cannot be inside <table> \(Later\): .*Write <table><tbody><tr>/);
  });
});
