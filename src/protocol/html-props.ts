/**
 * Props of elements, changed so that the markup of Preact means in a browser what they say. Used by the server and the browser.
 */

type Props = Readonly<Record<string, unknown>>;

/**
 * Returns the values of the options that a `<select>` has selected when it is rendered: of its `value`, else of its
 * `defaultValue`, which may be a list; `undefined` if it has neither.
 */
export function selectedValues({ value, defaultValue }: Props): readonly string[] | undefined {
  if (value !== undefined && value !== null) return [String(value)];
  return defaultValue === undefined || defaultValue === null ? undefined : [defaultValue].flat().map(String);
}

/**
 * Returns the props of an `<option>` of such an element, with `selected`. The renderer selects no option that has only a text, and
 * none of a list. An option that says itself whether it is selected keeps its props.
 */
export function withSelection(props: Props, values: readonly string[]): Props {
  if ("selected" in props || "defaultSelected" in props) return props;
  return { ...props, selected: values.includes(valueOfOption(props)) };
}

/** Returns what a browser sends for an option: its `value`, or its text without surplus spaces. */
export function valueOfOption({ value, children }: Props): string {
  if (value !== undefined && value !== null) return String(value);
  return [children]
    .flat(Infinity)
    .filter((child) => /^(?:string|number|bigint)$/.test(typeof child))
    .join("")
    .trim()
    .replace(/[ \t\n\f\r]+/g, " ");
}

/** Returns whether the HTML parser removes a line feed at the start of an element of this type. */
export function dropsLineFeed(type: string): boolean {
  return type === "pre" || type === "textarea" || type === "listing";
}

/**
 * Returns the props of an element whose first line feed the HTML parser removes, with one more if its content starts with one.
 * A text area gets its text as its children: that of `value`, else that of `defaultValue`, in any order.
 *
 * @param type a type for which {@link dropsLineFeed} returns `true`
 * @see https://html.spec.whatwg.org/#parsing-main-inbody "A start tag whose tag name is one of: pre, listing", "textarea"
 */
export function keepLineFeed(type: string, props: Props): Props {
  const html = (props.dangerouslySetInnerHTML as { readonly __html?: unknown } | undefined)?.__html; // as JSX types it
  if (typeof html === "string") {
    return LINE_FEED.test(html) ? { ...props, dangerouslySetInnerHTML: { __html: `\n${html}` } } : props;
  }
  const { value, defaultValue, children, ...rest } = props;
  const text = type === "textarea" ? (read(value) ?? read(defaultValue) ?? children) : children;
  const content = startsWithLineFeed(text) ? ["\n", text] : text;
  if (type === "textarea") return { ...rest, children: content };
  return content === children ? props : { ...props, children: content };
}

/** The parser reads a carriage return as a line feed. */
const LINE_FEED = /^[\r\n]/;

/** Returns the value of a signal, or the value itself. */
function read(value: unknown): unknown {
  return typeof value === "object" && value !== null && "peek" in value && "value" in value ? value.value : value;
}

/**
 * Returns whether children start with a line feed, or may do so: what a component or a fragment renders is not known yet, and a line feed
 * that is not needed is removed. `undefined` if they render nothing.
 */
function startsWithLineFeed(children: unknown): boolean | undefined {
  if (typeof children === "string") return children === "" ? undefined : LINE_FEED.test(children);
  if (typeof children === "number" || typeof children === "bigint") return false;
  if (typeof children !== "object" || children === null) return undefined;
  if (!Array.isArray(children)) return !("type" in children && typeof children.type === "string"); // an element
  for (const child of children) {
    const starts = startsWithLineFeed(child);
    if (starts !== undefined) return starts;
  }
  return undefined;
}

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
