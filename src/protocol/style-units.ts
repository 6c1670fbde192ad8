/** The properties whose numbers are no lengths, as in React, in camel case and with hyphens. */
const UNITLESS =
  /^--|^(?:order|orphans|widows|scale|zoom|columns)$|aspect|opacity|stroke|weight|count|z-?index|tab-?size|line-?(?:clamp|height$)|flex(?!-?basis)|grid-?(?:area|row|column)(?!-?gap)|border-?image|box-?(?:flex|ordinal)/i;

/**
 * Returns the object of `style` with its numbers as texts: lengths with `px`, as in React. Preact adds no unit in the
 * browser, and its renderer on the server adds one to some properties that have none.
 *
 * @returns the object itself if it contains no number
 */
export function withUnits(style: object): object {
  let copy: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(style)) {
    if (typeof value !== "number") continue;
    copy ??= { ...style };
    copy[name] = `${value}${UNITLESS.test(name) ? "" : "px"}`;
  }
  return copy ?? style;
}
