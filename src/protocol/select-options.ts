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
