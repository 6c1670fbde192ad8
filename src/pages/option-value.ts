import { isValidElement, toChildArray } from "preact";

/** Returns what a browser sends for an option: its `value`, or its text without surplus spaces. */
export function valueOfOption({ value, children }: Readonly<Record<string, unknown>>): string {
  if (value !== undefined && value !== null) return String(value);
  return textOf(children)
    .trim()
    .replace(/[ \t\n\f\r]+/g, " ");
}

function textOf(children: unknown): string {
  // Props of JSX: its children are of this type.
  return toChildArray(children as Parameters<typeof toChildArray>[0])
    .map((child) => (isValidElement(child) ? "" : String(child)))
    .join("");
}
