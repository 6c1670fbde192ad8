import { h, type VNode } from "preact";
import { prepareForms } from "../bodies/index.ts";
import { type FormTarget, formTargetOf } from "../forms/index.ts";
import { FORM_TYPE, fieldErrorId, formHead, isSubmissionOf, selectedValues, withSelection } from "../protocol/index.ts";
import { addChoice, checkFormFields } from "./form-warnings.ts";
import { type FormRendering, locationOf, MarkupError, type OpenForm, type RenderState } from "./render-state.ts";

/** The props of an element. JSX has checked them against its type. */
type Props = Readonly<Record<string, unknown>>;

/**
 * Prepares a form for rendering. With a server function as its `action`, it gets its method, its address, its hidden
 * fields and, if it was refused, the summary of its errors.
 *
 * @throws MarkupError if the `action` is another function
 * @see docs/protocol.md 15.5
 */
export function openForm(vnode: VNode, state: RenderState): void {
  const props = vnode.props as Props;
  const target = targetOf(vnode, "action");
  if (!target) {
    if (state.viewDepth > 0) preventSubmit(vnode, props);
    return;
  }
  const { forms } = state;
  if (state.development && !forms.sendsOrigin) {
    throw new MarkupError(
      "Forms of this page would be refused: with Referrer-Policy: no-referrer, browsers send Origin: null. Set the " +
        'header to "same-origin", which hides the page from other sites as well.',
    );
  }
  prepareForms();
  const { definition, key, hasHandle } = target;
  const { name } = definition.signature;
  if (state.development) checkRequest(vnode, props, name);
  const submission = forms.submission && isSubmissionOf(forms.submission, name, key) ? forms.submission : null;
  if (submission) submission.isShown = true;
  if (submission && state.viewDepth > 0) forms.isSubmissionInView = true;
  const head = formHead(h, {
    name,
    key,
    csrfToken: forms.formToken(),
    error: hasHandle ? null : (submission?.error ?? null),
    errors: submission?.errors ?? {},
  });
  setProps(vnode, {
    ...props,
    action: forms.addressOf(definition),
    method: "post",
    enctype: FORM_TYPE,
    encType: undefined,
    ...(head.length > 0 ? { children: [head, props.children] } : {}),
  });
  forms.open = {
    ...{ vnode, target, submission, filled: new Map(), hasFocus: false },
    ...{ fields: new Map(), unnamed: [], choices: new Map(), select: null },
  };
}

/**
 * Prepares an element in a form of a server function, or a button: the address of another function, and what was typed
 * into a field if the form was refused.
 *
 * @throws MarkupError for a `formAction` that is not a server function, or is outside such a form
 */
export function prepareField(vnode: VNode, type: string, state: RenderState): void {
  const { open } = state.forms;
  if (type === "button" || type === "input") prepareSubmitter(vnode, state);
  if (!open) return;
  if (open.submission) fillField(vnode, type, open, state.forms);
  if (!state.development) return;
  addField(vnode, type, open);
  addChoice(vnode, type, open);
}

/** Selects the options of a `<select>` with `value` or `defaultValue`, as the browser does, or what the user has selected. */
export function prepareSelection(vnode: VNode, { forms }: RenderState): void {
  const props = vnode.props as Props;
  if (vnode.type === "select") {
    const values = selectedValues(props);
    if (values) forms.select = { vnode, values, isTyped: false };
  } else if (forms.select) {
    const { isTyped, values } = forms.select;
    const { selected: _, defaultSelected: __, ...others } = props;
    setProps(vnode, withSelection(isTyped ? others : props, values));
  }
}

/** Ends what {@link openForm}, {@link prepareField} and {@link prepareSelection} have started for an element, after its children. */
export function closeForm(vnode: VNode, state: RenderState): void {
  const { forms } = state;
  if (forms.open?.vnode === vnode) {
    // The fields of a part are not known yet.
    if (state.warn && !forms.open.hasParts) checkFormFields(forms, forms.open, state.warn);
    forms.open = null;
    return;
  }
  if (forms.select?.vnode === vnode) forms.select = null;
  if (forms.open?.select?.vnode === vnode) forms.open.select = null;
}

function prepareSubmitter(vnode: VNode, state: RenderState): void {
  const target = targetOf(vnode, "formAction");
  if (!target) return;
  const props = vnode.props as Props;
  const { open } = state.forms;
  if (!open && props.form === undefined) {
    throw new MarkupError(
      `A <${String(vnode.type)}> with a server function as formAction must be in a <form> with a server function as ` +
        "its action.",
    );
  }
  const action = state.forms.addressOf(target.definition, open?.target.definition.signature.name);
  setProps(vnode, { ...props, formAction: action, formMethod: "post", formEncType: FORM_TYPE });
}

/** Returns what an attribute refers to; `undefined` for a text, a `URL` and nothing. */
function targetOf(vnode: VNode, attribute: "action" | "formAction"): FormTarget | undefined {
  const value = (vnode.props as Props)[attribute];
  const target = formTargetOf(value);
  const stream = target?.definition.signature.stream;
  if (typeof value !== "function" || (target && !stream)) return target;
  if (value.name.startsWith("bound ")) throw new MarkupError(boundMessage(vnode, attribute, value.name));
  const received = stream ? `the stream ${value.name}` : `a function${value.name && ` (${value.name})`}`;
  throw new MarkupError(
    `The ${attribute} of <${String(vnode.type)}> is ${received}, which cannot receive a form. Pass a function that was ` +
      "declared with server(), or what form() returns for one.",
  );
}

function boundMessage({ type }: VNode, attribute: string, name: string): string {
  return (
    `The ${attribute} of <${String(type)}> is the result of bind() (${name}), which cannot receive a form. Pass the function ` +
    'itself, and send the value in a hidden field: <input type="hidden" name="id" value={id} />.'
  );
}

/** @throws MarkupError for a method and an encoding with which a function cannot be called: they would be ignored */
function checkRequest(vnode: VNode, props: Props, name: string): void {
  for (const [attribute, value] of Object.entries(props)) {
    const expected = REQUEST[attribute.toLowerCase()];
    if (!expected || typeof value !== "string" || expected.test(value)) continue;
    throw new MarkupError(
      `The form of ${name} has ${attribute}=${JSON.stringify(value)}, which would be ignored: the form of a server function ` +
        `is sent with POST as ${FORM_TYPE}. Leave the attribute out. For a form in the URL, use a path as the action.`,
      locationOf(vnode),
    );
  }
}

/** What a form may have in the attributes that tsweb sets. Fields in the encoding of the URL arrive as well. */
const REQUEST: Readonly<Record<string, RegExp | undefined>> = {
  method: /^(post)?$/i,
  enctype: /^(multipart\/form-data|application\/x-www-form-urlencoded)?$/i,
};

/** The elements of HTML that are fields of a form. */
const TEXT_FIELDS: readonly string[] = ["textarea", "select", "button"];

function addField(vnode: VNode, type: string, open: OpenForm): void {
  const { props } = vnode;
  const { name, type: inputType } = props as Props;
  if (typeof name !== "string") {
    if (isUnnamedField(type, props)) open.unnamed.push(vnode);
    return;
  }
  const isFile = type === "input" && typeof inputType === "string" && inputType.toLowerCase() === "file";
  const isText = !isFile && (type === "input" || TEXT_FIELDS.includes(type));
  open.fields.set(name, [...(open.fields.get(name) ?? []), isFile ? "file" : isText ? "text" : "unknown"]);
}

/** Returns whether an element is a field that would be sent if it had a name. */
function isUnnamedField(type: string, { name, type: inputType, form }: Props): boolean {
  if (name !== undefined || form !== undefined) return false;
  if (type === "select" || type === "textarea") return true;
  return type === "input" && !/^(?:submit|button|reset|image)$/i.test(String(inputType));
}

/** The props of an element are shared if its markup is used twice, so that they are replaced instead of changed. */
function setProps(vnode: VNode, props: Props): void {
  Object.assign(vnode, { props });
}

/**
 * Sets `method="dialog"` on a form with `onSubmit`. Before hydration, a browser would submit the form with GET and put
 * its fields, passwords included, into the URL. With this method, outside a `<dialog>`, it does nothing.
 */
function preventSubmit(vnode: VNode, props: Props): void {
  const { onSubmit, method, action } = props;
  if (typeof onSubmit !== "function" || method !== undefined || action !== undefined) return;
  setProps(vnode, { ...props, method: "dialog" });
}

/** The inputs into which nothing is typed. The values of hidden fields are those of the new page. */
const UNTYPED = new Set(["hidden", "submit", "button", "reset", "image", "file", "password"]);

/**
 * Fills in a field of a form that was refused with what was typed, in place of its own value, and marks it if it was
 * refused. Passwords and files stay empty.
 *
 * @param type the name of the element
 * @see docs/protocol.md 15.5
 */
function fillField(vnode: VNode, type: string, open: OpenForm, forms: FormRendering): void {
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
