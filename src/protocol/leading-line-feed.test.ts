import { Fragment, h } from "preact";
import { expect, test } from "vitest";
import { keepLineFeed } from "./leading-line-feed.ts";

const Text = () => "\n";
const fragment = h(Fragment, null, "\na");
const signal = { peek: () => "\na", value: "\na" };

test.each<[string, Record<string, unknown>, unknown]>([
  ["pre", { children: "\na" }, ["\n", "\na"]],
  ["listing", { children: "\na" }, ["\n", "\na"]],
  ["pre", { children: "\r\na" }, ["\n", "\r\na"]],
  ["pre", { children: [null, false, "", [], "\na"] }, ["\n", [null, false, "", [], "\na"]]],
  ["pre", { children: fragment }, ["\n", fragment]],
  ["pre", { children: signal }, ["\n", signal]],
  ["textarea", { value: "\na" }, ["\n", "\na"]],
  ["textarea", { defaultValue: "\na", value: undefined }, ["\n", "\na"]],
  ["textarea", { value: signal }, ["\n", "\na"]],
  ["textarea", { children: "\na" }, ["\n", "\na"]],
  ["textarea", { value: "a", children: "\nb" }, "a"],
  ["textarea", { defaultValue: "\nb", value: "a" }, "a"],
  ["textarea", { value: "" }, ""],
  ["pre", { children: "a\nb" }, "a\nb"],
  ["pre", { children: [1, "\n"] }, [1, "\n"]],
])("the content of <%s> with %j is written with the line feed that the parser removes", (type, props, children) => {
  expect(JSON.stringify(keepLineFeed(type, props))).toBe(JSON.stringify({ children }));
});

test("a component may start with a line feed, an element does not", () => {
  expect(keepLineFeed("pre", { children: h(Text, {}) }).children).toHaveLength(2);
  const props = { children: h("b", null, "\na") };
  expect(keepLineFeed("pre", props)).toBe(props);
});

test("HTML of the application is completed, too", () => {
  expect(keepLineFeed("pre", { dangerouslySetInnerHTML: { __html: "\na" } })).toEqual({
    dangerouslySetInnerHTML: { __html: "\n\na" },
  });
});
