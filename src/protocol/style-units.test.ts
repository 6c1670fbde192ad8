import { describe, expect, it } from "vitest";
import { withUnits } from "./style-units.ts";

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
