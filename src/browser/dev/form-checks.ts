/** The checks of forms in development: fields whose input the view does not receive, or does not show, and errors that it does not show. */

import type { FormState } from "../form.ts";
import { type LocatedNode, reportWarning } from "./report.ts";

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

/** A text area of the page, as Preact stores it on its node under a minified name. */
type RenderedNode = LocatedNode & { readonly __e?: Pick<HTMLTextAreaElement, "value" | "defaultValue"> | null };

/** The text with which each text area was rendered last. */
const renderedTexts = new WeakMap<object, string>();

/**
 * Reports a text area that was rendered with other children than before, while the user has changed its text: then the
 * browser does not show them. Call it after the element was rendered.
 *
 * Elements of packages have no location, so they are not reported.
 */
export function checkTextareaText({ type, props, __source: source, __e: element }: RenderedNode): void {
  if (type !== "textarea" || !element || !source || source.fileName.includes("/node_modules/")) return;
  const { children, value }: Readonly<Record<string, unknown>> = { ...props };
  if (value !== undefined || (typeof children !== "string" && typeof children !== "number")) return;
  const text = element.defaultValue;
  const previous = renderedTexts.get(element);
  renderedTexts.set(element, text);
  if (previous === undefined || previous === text || element.value === text.replace(/\r\n?/g, "\n")) return;
  const warning = new Error(
    "The new children of this <textarea> are not shown: they are only its first text, and the user has changed it. Write " +
      "`<textarea value={text} onInput={…} />` in place of the children.",
  );
  reportWarning(Object.assign(warning, { source }));
}

/** How long a view has to read the error: it is rendered soon, and may read it in an effect. */
const READ_MS = 1_000;

/**
 * Warns, in development, if nothing reads the error of a form's handle after a refusal: the user would see nothing.
 *
 * @param state the state, which has the error already and is not rendered yet
 */
export function watchErrors(state: FormState): void {
  let isRead = false;
  const message = state.error?.message;
  const watched = NAMES.map((name) => watchRead(state, name, () => (isRead = true)));
  setTimeout(() => {
    const areCurrent = watched.map((end) => end()).every(Boolean);
    if (isRead || !areCurrent || !state.element?.isConnected) return;
    reportWarning(Object.assign(new Error(messageOf(state.fn.id, message)), { stack: state.createdAt ?? "" }));
  }, READ_MS);
}

const NAMES = ["error", "errors"] as const;

/** Calls `onRead` when a property is read. @returns a function that ends it, and returns whether it was not replaced */
function watchRead(state: FormState, name: (typeof NAMES)[number], onRead: () => void): () => boolean {
  const set = (value: unknown) =>
    Object.defineProperty(state, name, { configurable: true, enumerable: true, writable: true, value });
  const value = state[name];
  let isCurrent = true;
  const get = () => {
    onRead();
    return value;
  };
  const replace = (next: unknown) => {
    isCurrent = false;
    set(next);
  };
  Object.defineProperty(state, name, { configurable: true, enumerable: true, get, set: replace });
  return () => {
    if (isCurrent) set(value);
    return isCurrent;
  };
}

function messageOf(name: string, error: string | undefined): string {
  return (
    `The form of ${name} was refused ("${error}"), but the user sees nothing, because the view reads neither \`error\` nor \`errors\` ` +
    'of what form() has returned. Render it, for example `<p role="alert">{handle.error?.message}</p>`, or write ' +
    `\`action={${name}}\` without form(), which shows the errors.`
  );
}
