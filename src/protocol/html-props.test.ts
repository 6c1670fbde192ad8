import { Fragment, h } from "preact";
import { describe, expect, it, test } from "vitest";
import { keepLineFeed, withUnits } from "./html-props.ts";

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

/** The properties to which React adds no unit, except those of one browser before the year 2015. */
const UNITLESS = [
  ...["animationIterationCount", "aspectRatio", "borderImageOutset", "borderImageSlice", "borderImageWidth", "boxFlex"],
  ...["boxFlexGroup", "boxOrdinalGroup", "columnCount", "columns", "flex", "flexGrow", "flexPositive", "flexShrink"],
  ...["flexNegative", "flexOrder", "gridArea", "gridRow", "gridRowEnd", "gridRowSpan", "gridRowStart", "gridColumn"],
  ...[
    "gridColumnEnd",
    "gridColumnSpan",
    "gridColumnStart",
    "fontWeight",
    "lineClamp",
    "lineHeight",
    "opacity",
    "order",
  ],
  ...["orphans", "scale", "tabSize", "widows", "zIndex", "zoom", "fillOpacity", "floodOpacity", "stopOpacity"],
  ...["strokeDasharray", "strokeDashoffset", "strokeMiterlimit", "strokeOpacity", "strokeWidth", "WebkitLineClamp"],
  ...["line-height", "z-index", "grid-row-start", "-webkit-line-clamp", "--own"],
];

const LENGTHS = [
  ...["width", "marginTop", "top", "inset", "gap", "fontSize", "letterSpacing", "flexBasis", "gridGap", "gridRowGap"],
  ...["gridColumnGap", "columnGap", "columnWidth", "borderWidth", "borderSpacing", "outlineOffset", "textIndent"],
  ...["textDecorationThickness", "backgroundPositionX", "scrollMarginTop", "lineHeightStep", "blockSize", "margin-top"],
];

describe("withUnits", () => {
  it.each(UNITLESS)("adds no unit to a number of %s", (name) => {
    expect(withUnits({ [name]: 2 })).toEqual({ [name]: "2" });
  });

  it.each(LENGTHS)("adds px to a number of %s", (name) => {
    expect(withUnits({ [name]: 1.5 })).toEqual({ [name]: "1.5px" });
  });

  it("keeps texts, and does not change the object", () => {
    const style = Object.freeze({ width: 0, color: "red", display: null });
    expect(withUnits(style)).toEqual({ width: "0px", color: "red", display: null });
    const texts = { width: "1em" };
    expect(withUnits(texts)).toBe(texts);
  });
});
