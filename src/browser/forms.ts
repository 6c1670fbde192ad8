/**
 * The entry point `tsweb/forms`: sends the forms of views in the background. The compile step imports it in modules
 * with forms, so other pages do not load it. What is needed only once a form is sent is in `form-sending.ts`.
 *
 * A form whose `action` is a server function, or the handle of `form(fn)`, becomes the component {@link Form}. This is
 * done when elements are created, so it works for elements of other packages and for spread attributes, too.
 */
import { type ComponentChildren, Fragment, h, options, type VNode } from "preact";
import { CSRF_FIELD, FORM_PARAMETER, FORM_TYPE, KEY_FIELD } from "../protocol/index.ts";
import { token } from "./call.ts";
import { requestSubmit } from "./fields.ts";
import { createForm, type FormAction, type FormState } from "./form.ts";
import { getPageData } from "./page-data.ts";
import { afterRender, slot } from "./slot.ts";

/** Loads the code that sends forms and shows their errors: when a form gets the focus, is sent or is reset. */
function loadSending(): Promise<typeof import("./form-sending.ts")> {
  return import("./form-sending.ts");
}

type Attributes = Record<string, unknown>;

interface FormAttributes extends Attributes {
  action: FormAction | FormState;
  children?: ComponentChildren;
  onSubmit?: (event: SubmitEvent) => unknown;
}

/** An element with Preact's internal field for its node, under the name that its add-ons use. */
type FormNode = VNode & { __e: HTMLFormElement };

const previousHook = options.vnode;

options.vnode = (vnode: VNode<Attributes>) => {
  const { type, props } = vnode;
  if (type === "form" && functionOf(props.action)) {
    vnode.type = Form as unknown as typeof vnode.type; // JSX has checked the attributes
    props.ref = vnode.ref; // a component has it among its props
    vnode.ref = null;
  } else if (typeof type === "string" && functionOf(props.formAction)) {
    props.formAction = addressOf(functionOf(props.formAction) as FormAction); // checked in the line above
    props.formMethod = "post";
    props.formEncType = FORM_TYPE;
  }
  previousHook?.(vnode);
};

/** Returns the server function of an attribute: that of a handle, or the attribute itself; `undefined` without one. */
function functionOf(action: unknown): FormAction | undefined {
  const fn = (action as FormState | undefined)?.fn ?? action;
  if (typeof fn !== "function") return;
  // Bundlers remove this from production. A stream has no id either.
  if (process.env.NODE_ENV !== "production" && !("id" in fn)) {
    throw new TypeError(
      "The action of this form is a function that is not a server function, or is a stream. Import a function that is " +
        "declared with server() and returns a value, or use onSubmit to run code in the browser.",
    );
  }
  return fn as FormAction; // only stubs have an id
}

/**
 * Returns the address to which the browser sends a form without script: that of the page, with the function's name and
 * version.
 */
function addressOf({ id, hash }: FormAction): string {
  const url = new URL(location.href);
  url.searchParams.set(FORM_PARAMETER, hash ? `${id}.${getPageData().build}.${hash}` : id);
  return url.pathname + url.search;
}

/** The form of an application. It renders the same elements as the server (docs/protocol.md 15.5). */
function Form({ action, children, onSubmit, ...attributes }: FormAttributes): VNode {
  const fn = functionOf(action) as FormAction; // only elements with one become this component
  const state = "fn" in action ? action : slot("form", (component) => createForm(component, fn));
  state.fn = fn;
  const ownAddress = addressOf(fn);
  const form = h(
    "form",
    {
      onFocusIn: () => loadSending().catch(() => {}), // onSubmit loads it again, and handles the failure
      ...attributes,
      action: ownAddress,
      method: "post",
      enctype: FORM_TYPE,
      // It is left to the browser if it is sent elsewhere: to another URL, to the dialog around it, or to another window. A form
      // that is being sent is sent again after that, unless the same was sent twice: by a double click.
      onSubmit(event: SubmitEvent) {
        onSubmit?.(event);
        const submitter = event.submitter as HTMLButtonElement | null; // or an input with the same attributes
        // The server adds the function of the form to that of the button, after a colon.
        const url = new URL(submitter?.getAttribute("formaction") ?? ownAddress, location.href);
        const target = url.searchParams.get(FORM_PARAMETER);
        const method = submitter?.formMethod as string; // test() converts undefined to a string
        const tab = submitter?.formTarget || attributes.target || "_self";
        if (event.defaultPrevented || isBroken || !target || tab !== "_self" || /get|dialog/.test(method)) return;
        event.preventDefault();
        const body = new FormData(form.__e, submitter);
        if (!state.pending) state.update({ pending: true, sent: 0 });
        loadSending().then(
          (sending) => sending.sendForm(state, target, body),
          () => {
            isBroken = true;
            requestSubmit(form.__e, submitter);
          },
        );
      },
    },
    // One child, so that the children of the application keep their positions when the summary appears.
    h(Fragment, null, token && hidden(CSRF_FIELD, token), state.key && hidden(KEY_FIELD, state.key), state.summary),
    children,
  ) as VNode as FormNode;
  afterRender(() => {
    if (!state.element && state.error) void loadSending().then((sending) => sending.takeOver(state));
    state.element = form.__e;
    state.onReset = () => loadSending().then((sending) => sending.clear(state));
  });
  return form;
}

function hidden(name: string, value: string): VNode {
  return h("input", { type: "hidden", name, value }) as VNode;
}

/** Whether the code that sends forms is not available, for example because a new version was deployed. */
let isBroken = false;
