import type { VNode } from "preact";
import { fieldErrorId } from "../protocol/index.ts";
import type { FormRendering, OpenForm } from "./form-rendering-state.ts";

type Props = Readonly<Record<string, unknown>>;

/** The inputs into which nothing is typed. The values of hidden fields are those of the new page. */
const UNTYPED = new Set(["hidden", "submit", "button", "reset", "image", "file", "password"]);

/**
 * Fills in a field of a form that was refused with what was typed, in place of its own value, and marks it if it was
 * refused. Passwords and files stay empty.
 *
 * @param type the name of the element
 * @see docs/protocol.md 15.5
 */
export function fillField(vnode: VNode, type: string, open: OpenForm, forms: FormRendering): void {
  const props = vnode.props as Props;
  const { name } = props;
  if ((type !== "input" && type !== "select" && type !== "textarea") || typeof name !== "string") return;
  const kind = type === "input" ? inputType(props) : type;
  if (kind === "password") forms.passwords.add(name);
  const isTyped = open.submission?.error && !UNTYPED.has(kind);
  const filled = isTyped ? typedProps(vnode, { name, kind }, { open, forms }) : props;
  setProps(vnode, { ...filled, ...errorProps(props, { name, kind }, open) });
}

/** The form around a field, and the forms of the page. */
interface FormPlace {
  readonly open: OpenForm;
  readonly forms: FormRendering;
}

interface Field {
  readonly name: string;
  /** The type of an `input`, or the name of another element. */
  readonly kind: string;
}

function inputType({ type }: Props): string {
  return typeof type === "string" ? type.toLowerCase() : "text";
}

/** Returns the props of a field with what was typed. A field that was not sent was disabled, or is new. */
function typedProps(vnode: VNode, { name, kind }: Field, { open, forms }: FormPlace): Props {
  const props = vnode.props as Props;
  const texts = open.submission?.texts.get(name) ?? [];
  if (kind === "checkbox" || kind === "radio") {
    const { defaultChecked: _, ...rest } = props;
    return { ...rest, checked: texts.includes(String(props.value ?? "on")) };
  }
  // The last one of these that the renderer reads would count, in the order of the application.
  const { value: _, defaultValue: __, ...others } = props;
  if (kind === "select") {
    forms.select = { vnode, values: texts, isTyped: true };
    return others;
  }
  const index = open.filled.get(name) ?? 0;
  open.filled.set(name, index + 1);
  const text = texts[index];
  if (text === undefined) return props;
  if (kind !== "textarea") return { ...others, value: text };
  const { children: ___, dangerouslySetInnerHTML: ____, ...rest } = others; // its own text
  return { ...rest, value: text };
}

/** The first refused field has the focus, in place of a field that asks for it. */
function errorProps(props: Props, { name, kind }: Field, open: OpenForm): Props {
  const { submission, target } = open;
  if (!submission || kind === "hidden" || Object.keys(submission.errors).length === 0) return {};
  const unfocused = { autofocus: undefined, autoFocus: undefined };
  if (!Object.hasOwn(submission.errors, name)) return unfocused;
  const focus = open.hasFocus ? {} : { autofocus: true };
  open.hasFocus = true;
  const marked = { ...unfocused, ...focus, "aria-invalid": "true" };
  if (target.hasHandle) return marked;
  const id = fieldErrorId(target.definition.signature.name, target.key, name);
  const described = [props["aria-describedby"], id].filter((part) => typeof part === "string").join(" ");
  return { ...marked, "aria-describedby": described };
}

function setProps(vnode: VNode, props: Props): void {
  Object.assign(vnode, { props });
}
