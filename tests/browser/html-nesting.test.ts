/**
 * The rules about nested elements, compared with the HTML parser of Chromium.
 */
import fc from "fast-check";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nestingProblem, textProblem } from "../../src/pages/html-nesting.ts";
import { launch } from "./chromium.ts";

/** An element with its children, or a text. */
type Tree = readonly [name: string, children: readonly Tree[]] | string;

/**
 * All elements with rules, and some of each kind without. `select`, `template` and `noscript` have no rules, and
 * `search` is newer than some browsers.
 */
const NAMES = [
  ..."a abbr address area article aside b big blockquote body br button caption center code col colgroup dd details".split(
    " ",
  ),
  ..."dialog dir div dl dt em embed fieldset figcaption figure footer form h1 h2 h3 h6 head header hgroup hr html i".split(
    " ",
  ),
  ..."iframe img input label li link main marquee menu meta nav nobr object ol p pre script section small".split(" "),
  ..."span strong style sub sup svg table tbody td textarea tfoot th thead title tr tt u ul var video wbr".split(" "),
  ..."math mi mtext mrow foreignObject desc g path circle x-box".split(" "),
];
const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
/** Names that are often next to each other in a mistake, so that many trees are about tables, links and lists. */
const FREQUENT = "a button dd div dt form h1 h2 li ol p span svg table tbody td tr ul foreignObject".split(" ");

const name = fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom(...FREQUENT));

/** One path of elements, the outermost first. */
const path = fc
  .array(name, { minLength: 1, maxLength: 6 })
  .chain((names) =>
    fc
      .boolean()
      .map((hasText) => names.reduceRight<readonly Tree[]>((inner, one) => [[one, inner]], hasText ? ["x"] : [])),
  );

const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant("x"),
    fc.tuple(name, fc.array(tie("tree"), { maxLength: 2 })),
  ),
})).tree;

/** Complete tables, of which one element is replaced or removed. */
const table = fc
  .tuple(fc.constantFrom("table", "thead", "tbody", "tr", "td", "caption", "colgroup", "col"), name)
  .map(([replaced, replacement]): Tree => {
    const element = (own: string, ...children: Tree[]): Tree => [own === replaced ? replacement : own, children];
    const cell = element("td", element("p", "x"));
    return element(
      "table",
      element("caption", "x"),
      element("colgroup", element("col")),
      element("thead", element("tr", ["th", ["x"]])),
      element("tbody", element("tr", cell, cell)),
    );
  });

const trees: fc.Arbitrary<readonly Tree[]> = fc.oneof(
  path,
  tree.map((one) => [one]),
  table.map((one) => [one]),
);

function toHtml(node: Tree): string {
  if (typeof node === "string") return node;
  const [own, children] = node;
  const isEmpty = VOID.has(own) && children.length === 0;
  return isEmpty ? `<${own}/>` : `<${own}>${children.map(toHtml).join("")}</${own}>`;
}

/** Returns whether the rules report an element or a text. */
function isReported(nodes: readonly Tree[], ancestors: readonly string[] = []): boolean {
  return nodes.some((node) =>
    typeof node === "string"
      ? textProblem(ancestors) !== undefined
      : nestingProblem({ name: node[0] }, ancestors) !== undefined || isReported(node[1], [node[0], ...ancestors]),
  );
}

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser?.close());

/** Returns the elements and texts that a browser makes of the body of each document, as HTML with all end tags. */
async function parse(bodies: readonly string[]): Promise<string[]> {
  const page = await browser.newPage();
  const parsed = await page.evaluate((list) => {
    const voids = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/;
    const write = (node: Node): string => {
      if (!(node instanceof Element)) return (node.textContent ?? "").replaceAll("<", "&lt;");
      const children = Array.from(node.childNodes, write).join("");
      const isEmpty = voids.test(node.localName) && children === "";
      return isEmpty ? `<${node.localName}/>` : `<${node.localName}>${children}</${node.localName}>`;
    };
    const documents = list.map((body) => new DOMParser().parseFromString(`<!doctype html><body>${body}`, "text/html"));
    return documents.map(({ body }) => (body ? Array.from(body.childNodes, write).join("") : ""));
  }, bodies);
  await page.close();
  return parsed;
}

test("exactly the markup that a browser repairs is reported", async () => {
  // In a table, an empty form stays where it is, and the contents of any other form are moved: both are reported.
  const samples = fc.sample(trees, 8_000).filter((nodes) => !/<t.*<form><\/form>/.test(nodes.map(toHtml).join("")));
  const bodies = samples.map((nodes) => nodes.map(toHtml).join(""));
  const parsed = await parse(bodies);
  const isRepaired = bodies.map((body, index) => parsed[index]?.toLowerCase() !== body.toLowerCase());
  const wrong = samples.flatMap((nodes, index) =>
    isReported(nodes) === isRepaired[index]
      ? []
      : [`${bodies[index]} becomes ${parsed[index]}, and is ${isRepaired[index] ? "not " : ""}reported`],
  );
  expect(wrong.sort((one, other) => one.length - other.length).slice(0, 10)).toEqual([]);
  // Without enough markup of both kinds, the test would not show much.
  expect(isRepaired.filter(Boolean).length).toBeGreaterThan(1_000);
  expect(isRepaired.filter((one) => !one).length).toBeGreaterThan(1_000);
});
