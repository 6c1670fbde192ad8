type Props = Readonly<Record<string, unknown>>;

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
