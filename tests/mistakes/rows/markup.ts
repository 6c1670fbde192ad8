import type { Edit, Mistake } from "../mistake.ts";
import { PAGES, pageVariants, VIEW, variantRows, viewVariants } from "./guest-book-edits.ts";

/** Replaces the message of the view, in line 21. */
const inView = (expression: string): Edit => ({
  file: VIEW,
  from: '<p role="alert">{book.error}</p>',
  to: `{${expression}}`,
});

/** Replaces the heading of the page, in line 7. */
const inPage = (expression: string): Edit => ({ file: PAGES, from: "<h1>Guest book</h1>", to: `{${expression}}` });

/** A row with an expression for the view or the page. */
interface MarkupRow extends Omit<Mistake, "edits" | "places" | "at" | "fix"> {
  readonly expression: string;
}

/** Returns the expressions of rows. */
const expressionsOf = (rows: readonly MarkupRow[]) => rows.map(({ expression }) => expression);

/** Markup that browsers repair: the error page of the development server and the terminal have the message. */
const repaired: readonly (MarkupRow & Pick<Mistake, "fix">)[] = [
  {
    mistake: "writes a form in a form",
    expression: '<form action="/search" />',
    says: "<form> cannot be inside <form> (GuestBook): browsers ignore the inner form",
    fix: "Put the two next to each other.",
  },
  {
    mistake: "writes a block in a paragraph",
    expression: "<p><ul /></p>",
    says: "<ul> cannot be inside <p> (GuestBook): browsers end the <p> before it",
    fix: "Use <div> in place of <p>, or put the <ul> after it.",
  },
  {
    mistake: "writes a button in a button",
    expression: '<button type="button"><button type="button">x</button></button>',
    says: "<button> cannot be inside <button>",
    fix: "Put the two next to each other.",
  },
  {
    mistake: "writes a table without <tbody> in a view",
    expression: "<table><tr><td>x</td></tr></table>",
    says: "browsers insert <tbody> between the two, so the page differs from the markup, and the view cannot be hydrated",
    fix: "Write <table><tbody><tr>.",
  },
  {
    mistake: "writes a block in a table",
    expression: "<table><div>x</div></table>",
    says: "<div> cannot be inside <table> (GuestBook): browsers move it in front of the table",
    fix: "Put it into a <td>, a <th> or the <caption>.",
  },
  {
    mistake: "writes text in a row of a table",
    expression: "<table><tbody><tr>{book.name.length}</tr></tbody></table>",
    says: "Text cannot be inside <tr>",
    fix: "Put it into a <td>, a <th> or the <caption>.",
  },
  {
    mistake: "writes an item in an item",
    expression: "<ul><li><div><li>x</li></div></li></ul>",
    says: "<li> cannot be inside <li> (GuestBook): browsers end the <li> before it",
    fix: "Put the inner <li> into a list of its own, <ul> or <ol>.",
  },
];

const repairedInPage: readonly (MarkupRow & Pick<Mistake, "fix">)[] = [
  {
    mistake: "writes a link in a link",
    expression: '<a href="/"><h1><a href="/a">Guest book</a></h1></a>',
    says: "<a> cannot be inside <a>: browsers end the <a> before it, so the page differs from the markup",
    fix: "Put the two next to each other.",
  },
  {
    mistake: "writes a cell outside of a table",
    expression: "<div><td>x</td></div>",
    says: "<td> cannot be inside <div>: browsers ignore it",
    fix: "Put the <td> into a <tr>.",
  },
  {
    mistake: "writes <body> in a page",
    expression: "<body>x</body>",
    says: "<body> cannot be inside <main>: browsers ignore it",
    fix: "render their contents. Use <Head> for those of <head>, and <Html … /> and <Body … /> for attributes.",
  },
  {
    mistake: "writes an image with content",
    expression: '<img src="/a.png" alt="">x</img>',
    says: "Text cannot be inside <img>: browsers put it after the <img>",
    fix: "The element <img> has no content.",
  },
];

/** Attributes that do something else than their text says. */
const attributes: readonly (MarkupRow & Pick<Mistake, "fix">)[] = [
  {
    mistake: "disables a button with the text false",
    expression: '<button type="button" {...{ disabled: "false" as never }}>x</button>',
    says: 'The attribute disabled of <button> is the text "false". Any text turns it on.',
    fix: "Write `disabled={false}`, or leave it out.",
  },
];

const FIX = "Compute such a value in the page and pass it to the view as a prop, or set it in on_mount.";

/** Views that the browser renders differently. */
const different: readonly (MarkupRow & Pick<Mistake, "places">)[] = [
  {
    mistake: "renders the current time in a view",
    expression: "<p>{performance.now()}</p>",
    places: ["overlay", "terminal"],
    says: /The view GuestBook renders other markup in the browser than on the server\. The server has rendered the text "[\d.]+" in form > p, and the browser the text "[\d.]+"/,
  },
  {
    mistake: "renders another element in the browser",
    expression: '(typeof window === "undefined" ? <i>a</i> : <b>a</b>)',
    places: ["overlay", "terminal"],
    says: "The server has rendered <i> in form, and the browser <b>.",
  },
  {
    mistake: "renders an element in the browser only",
    expression: '<p>{typeof window !== "undefined" && <b>a</b>}</p>',
    places: ["overlay", "terminal"],
    says: "The server has rendered nothing in form > p, and the browser <b>.",
  },
  {
    mistake: "renders a random attribute",
    expression: "<p title={String(Math.random())}>x</p>",
    places: ["console", "terminal"],
    says: /The server has rendered the attribute title="0\.\d+" of form > p, and the browser title="0\.\d+"/,
  },
];

const inViews = [...repaired, ...attributes];

export const mistakes: readonly Mistake[] = [
  ...variantRows(inViews, viewVariants(expressionsOf(inViews), inView)).map(
    (row): Mistake => ({ ...row, places: ["page", "terminal"], at: `${VIEW}:21` }),
  ),
  ...variantRows(repairedInPage, pageVariants(expressionsOf(repairedInPage), inPage)).map(
    (row): Mistake => ({ ...row, places: ["page", "terminal"], at: `${PAGES}:7` }),
  ),
  ...variantRows(different, viewVariants(expressionsOf(different), inView)).map(
    (row): Mistake => ({ ...row, at: `${VIEW}:21`, fix: FIX }),
  ),
];
