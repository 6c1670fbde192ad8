/** The check for fields whose input never reaches the state of the view, in development. */
import { reportWarning } from "./report.ts";
import type { LocatedNode } from "../list-keys.ts";

/** The types of `<input>` whose `value` the user does not change. */
const FIXED_TYPES: ReadonlySet<unknown> = new Set([
  ...["hidden", "submit", "button", "reset", "image", "file", "checkbox", "radio"],
]);

/** A node with the node around it, which Preact sets before it compares the two renderings, and its types omit. */
export type PlacedNode = LocatedNode & { readonly __?: PlacedNode | null };

type Props = Readonly<Record<string, unknown>>;

/**
 * Reports a field that is controlled by `value` or `checked` and has no event handler: each rendering of the view discards
 * what the user has entered.
 *
 * Not reported, because the input may be read in another way: a field with a name, which belongs to a form; a field with a
 * `ref`; and a field inside an element with an event handler that input reaches. Elements of packages have no location.
 */
export function checkUnhandledField(node: PlacedNode): void {
  const { type, ref, __source: source } = node;
  if (!source || source.fileName.includes("/node_modules/") || ref) return;
  const props: Props = node.props;
  const controlled = controlledProp(type, props);
  if (!controlled || props.name || props.readOnly || props.disabled || props.hidden || hasHandler(props)) return;
  for (let around = node.__; around; around = around.__) if (mayHandle(around)) return;
  const [handler, ...others] = fixesOf(type, controlled);
  const warning = new Error(
    `The <${String(type)}> has \`${controlled}\` and no event handler, so each rendering discards what the user has ` +
      `entered. Add \`${handler}\` and assign the new value to the state, or ${others.join(", or ")}.`,
  );
  reportWarning(Object.assign(warning, { source }));
}

/** Returns the property that controls a field. Signals and other objects may have a handler of their own. */
function controlledProp(type: unknown, props: Props): "value" | "checked" | undefined {
  const hasValue = typeof props.value === "string" || typeof props.value === "number";
  if (type === "textarea" || type === "select") return hasValue ? "value" : undefined;
  if (type !== "input") return undefined;
  if (props.type === "checkbox" || props.type === "radio")
    return typeof props.checked === "boolean" ? "checked" : undefined;
  return hasValue && !FIXED_TYPES.has(props.type) ? "value" : undefined;
}

function fixesOf(type: unknown, controlled: "value" | "checked"): readonly [string, ...string[]] {
  if (controlled === "checked") return ["onChange", "use `defaultChecked`"];
  if (type === "select") return ["onChange", "set `selected` on an <option> in place of `value`"];
  return ["onInput", "use `defaultValue`", "add `readOnly`"];
}

/** The handlers of elements around a field that can read its input. */
const HANDLERS_AROUND = /^on(?:input|change|beforeinput|key|click|focus|blur)/i;

function hasHandler(props: Props): boolean {
  return Object.keys(props).some((name) => /^on[a-z]/i.test(name) && props[name]);
}

/** Returns whether an element or a component around a field may receive its events, or has disabled it. */
function mayHandle({ type, props }: PlacedNode): boolean {
  if (typeof type !== "string") return false;
  const isSet = (name: string) => Boolean(Reflect.get(props, name));
  return Object.keys(props).some((name) => HANDLERS_AROUND.test(name) && isSet(name)) || isSet("disabled");
}
