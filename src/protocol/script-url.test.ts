import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isScriptUrl, scriptUrlAttributes } from "./script-url.ts";

describe("isScriptUrl", () => {
  test.each([
    "javascript:alert(1)",
    "javascript:",
    "JAVASCRIPT:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "\tjavascript:alert(1)",
    "\n\r\t javascript:alert(1)",
    "\u0000javascript:alert(1)",
    "\u0001\u001F javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "java\r\nscript:alert(1)",
    "j\na\tv\ra\ns\tc\rr\ni\tp\rt\n:alert(1)",
    "javascript\t:alert(1)",
    "javascript:\n//https://site.example/",
    "javascript://site.example/%0Aalert(1)",
    "javascript:void 0",
  ])("of %j is true", (url) => {
    expect(isScriptUrl(url)).toBe(true);
  });

  test.each([
    "",
    "/",
    "#javascript:",
    "?javascript:alert(1)",
    "/javascript:alert(1)",
    "./javascript:alert(1)",
    "https://site.example/javascript:alert(1)",
    "javascript",
    "javascripts:alert(1)",
    "xjavascript:alert(1)",
    "java script:alert(1)",
    "java\u0000script:alert(1)",
    "java\u00ADscript:alert(1)",
    "\u00A0javascript:alert(1)",
    "\uFEFFjavascript:alert(1)",
    "java\u017Fcript:alert(1)",
    "javascript&colon;alert(1)",
    "&#106;avascript:alert(1)",
    "javascript%3Aalert(1)",
    "%6Aavascript:alert(1)",
    "mailto:javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
  ])("of %j is false", (url) => {
    expect(isScriptUrl(url)).toBe(false);
  });

  test("agrees with the URL parser for every text [SITE-21]", () => {
    const part = fc.constantFrom(
      ..."javascriptJAVASCRIPT:/?#%& \t\n\r\u0000\u001F\u00A0ſ",
      "javascript",
      "java",
      "script:",
    );
    const anyText = fc.array(part, { maxLength: 16 }).map((parts) => parts.join(""));
    const between = fc.constantFrom("", "", "", "\t", "\n", "\r");
    const disguised = fc.tuple(
      fc.constantFrom("", " ", "\u0000", "\t\u0001", "x"),
      fc.array(between, { minLength: 11, maxLength: 11 }),
      fc.boolean(),
    );
    const script = disguised.map(
      ([before, gaps, isUpper]) =>
        before + [..."javascript:"].map((c, i) => (isUpper ? c.toUpperCase() : c) + gaps[i]).join(""),
    );
    fc.assert(
      fc.property(fc.oneof(anyText, script), (text) => {
        const isScript =
          URL.canParse(text, "https://site.example/") &&
          new URL(text, "https://site.example/").protocol === "javascript:";
        expect(isScriptUrl(text)).toBe(isScript);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("scriptUrlAttributes", () => {
  const url = "javascript:alert(1)";
  test.each([
    ["a", "href"],
    ["a", "HREF"],
    ["area", "href"],
    ["iframe", "src"],
    ["embed", "src"],
    ["img", "src"],
    ["form", "action"],
    ["button", "formaction"],
    ["button", "formAction"],
    ["input", "formAction"],
    ["use", "xlink:href"],
    ["a", "xlinkHref"],
    ["a", "XLINK:HREF"],
    ["object", "data"],
    ["x-element", "href"],
    ["mrow", "href"],
    ["animate", "to"],
    ["animate", "from"],
    ["animate", "values"],
    ["set", "to"],
  ])("contains the attribute of <%s %s>", (type, name) => {
    expect(scriptUrlAttributes(type, { [name]: url, title: "x", children: "y" })).toEqual([name]);
    expect(scriptUrlAttributes(type, { [name]: "https://site.example/" })).toBeUndefined();
  });

  test.each([
    ["a", { title: url, alt: url, class: url, "data-href": url, children: url, onClick: () => url }],
    ["input", { value: url, placeholder: url }],
    ["x-chart", { data: url }],
    ["text", { to: url }],
    ["a", { href: null, src: undefined, action: 1, formaction: true }],
    ["a", { href: "/search?q=a;javascript:x" }],
    ["a", {}],
  ])("is empty for an element %s with other attributes or values: %j", (type, props) => {
    expect(scriptUrlAttributes(type, props)).toBeUndefined();
  });

  test("contains attributes whose value is an object with such a text, and a list with such a URL", () => {
    expect(scriptUrlAttributes("a", { href: new URL(url) })).toEqual(["href"]);
    expect(scriptUrlAttributes("a", { href: { toString: () => url } })).toEqual(["href"]);
    expect(scriptUrlAttributes("animate", { values: `#;${url}` })).toEqual(["values"]);
    expect(scriptUrlAttributes("button", { formAction: url, href: url })).toEqual(["formAction", "href"]);
  });
});
