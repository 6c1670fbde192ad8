/** The check for `onChange` on fields that are controlled by `value`, in development. */
import { reportWarning } from "./dev/report.ts";
import type { LocatedNode } from "./list-keys.ts";

/** The types of `<input>` that hold a text. The others fire `change` when the user selects a value. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set([
  ...[undefined, null, "text", "search", "email", "url", "tel", "password"],
]);

/**
 * Reports a text field with `value` and `onChange`, and without another handler of its input: React calls `onChange` for
 * each letter, and browsers fire `change` when the field loses the focus. So the state stays as it was while the user types.
 *
 * Elements of packages have no location, so they are not reported. `preact/compat` has replaced `onChange` by `oninput` when
 * it created the element.
 */
export function checkChangeHandler(node: LocatedNode): void {
  const { type, __source: source } = node;
  if (!source || source.fileName.includes("/node_modules/")) return;
  const props: Readonly<Record<string, unknown>> = node.props;
  if (type !== "textarea" && !(type === "input" && TEXT_TYPES.has(props.type))) return;
  if (typeof props.onChange !== "function" || props.value === undefined || props.readOnly) return;
  if (["onInput", "oninput", "onKeyDown", "onKeyUp", "onBeforeInput"].some((name) => props[name])) return;
  const warning = new Error(
    `The <${type}> has \`value\` and \`onChange\`. \`onChange\` runs when the field loses the focus, and a rendering ` +
      "before that discards what was typed. Use `onInput`. For a value that is read when the field loses the focus, use " +
      "`defaultValue` instead of `value`.",
  );
  reportWarning(Object.assign(warning, { source }));
}
