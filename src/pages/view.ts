import { type ComponentChildren, createContext, type FunctionComponent, h, isValidElement } from "preact";
import { useContext } from "preact/hooks";
import type { Live, ViewOptions } from "../browser/index.ts";
import { rejectUnknownOptions } from "../config/index.ts";
import { createFormHandle } from "../forms/index.ts";
import {
  checkLiveHandle,
  type FieldName,
  type FormFunction,
  islandComment,
  type LiveHandle,
  SerializeError,
  toJson,
  type ViewFormHandle,
  type ViewFormOptions,
  type ViewSource,
} from "../protocol/index.ts";

import { checkSynchronous } from "./markup-checks.ts";
import { getActiveRender, InsideFallback, MarkupError } from "./render-state.ts";
import { registerViewBody } from "./rendering.ts";
import { checkSecretProps } from "./secret-props.ts";
import { htmlAround } from "./template-node.ts";

type Component<P> = (props: P) => ComponentChildren;

/** Whether the current node is inside a view: an inner view is part of the outer view's island. */
const InsideView = createContext(false);

/**
 * The server's version of `view`: returns a component that renders the view and, if it is outermost, registers it as an
 * island of the page.
 *
 * @param source where the view was declared, added by the compiler
 * @see docs/protocol.md 11.7
 */
export function view<P extends object>(
  options: ViewOptions,
  fn: Component<P>,
  source?: ViewSource,
): FunctionComponent<P>;
export function view<P extends object>(fn: Component<P>, source?: ViewSource): FunctionComponent<P>;
export function view<P extends object>(...args: readonly unknown[]): FunctionComponent<P> {
  const last = args.at(-1);
  const source = typeof last === "function" ? undefined : (last as ViewSource); // added by the compiler
  const fn = (source ? args.at(-2) : last) as Component<P>; // checked by the type of the browser's version
  const name = source?.name ?? (fn.name || "view");

  const Body: FunctionComponent<P> = (props) => {
    const markup = fn(props);
    checkSynchronous(name, markup);
    return markup;
  };
  Body.displayName = name;
  registerViewBody(Body);

  const View: FunctionComponent<P> = (props, context?: unknown) => {
    const render = getActiveRender();
    if (!render && context === undefined) requireComponent(name);
    const isInFallback = useContext(InsideFallback) !== null;
    if (useContext(InsideView) || !render) return h(Body, props);
    if (!source) throw new Error(notCompiledMessage(name));
    if (render.inHead)
      throw new MarkupError(
        `The view ${name} is used inside <Head>, where it cannot be hydrated. Move it into the page.`,
      );
    if (isInFallback) {
      throw new MarkupError(
        `The view ${name} is used in the fallback of <Later>, which is replaced. Use elements without a view there.`,
      );
    }
    checkNoChildren(name, props);
    const json = serializeProps(name, props);
    const index = render.islands.push({ source, props: json }) - 1;
    // Rendered with the props that the browser will have, so that both render the same.
    const sent = JSON.parse(json);
    if (render.development) checkSecretProps(name, sent, render);
    const body = numberIds(h(Body, sent), index);
    const text = islandComment(render.mark, index);
    return htmlAround(`<!--${text}-->`, h(InsideView.Provider, { value: true, children: body }), `<!--/${text}-->`);
  };
  View.displayName = name;
  return View;
}

/**
 * Throws if a view is called as a function outside of a component, where it cannot have state. In a component, such a call
 * works. Renderers call components with a second argument.
 */
function requireComponent(name: string): void {
  try {
    useContext(InsideView);
  } catch (cause) {
    const message = `The view ${name} is called as a function. Write it as an element: <${name} … />.`;
    throw new MarkupError(message, undefined, { cause });
  }
}

function notCompiledMessage(name: string): string {
  return (
    `The view ${name} is in a module that tsweb has not compiled, so the browser cannot load it. Run the ` +
    'application with `tsweb dev` or `tsweb build`, and tests with the plugin of "tsweb/vite".'
  );
}

function checkNoChildren(name: string, props: object): void {
  if (!("children" in props) || props.children === undefined) return;
  throw new MarkupError(
    `The view ${name} has children in a page. Only its props are sent to the browser, as JSON. ` +
      "Render the children inside the view, or wrap both in another view.",
  );
}

function serializeProps(name: string, props: object): string {
  // Preact copies props one by one, which would set the prototype of the copy, on the server and in the browser.
  if (Object.hasOwn(props, "__proto__"))
    throw new MarkupError(
      `The view ${name} has a prop named __proto__, which is not allowed. Pass its props by their names.`,
    );
  for (const [prop, value] of Object.entries(props)) {
    if (!isValidElement(value)) continue;
    throw new MarkupError(
      `The view ${name} has markup as the prop ${prop}. Props are sent as JSON: pass data, and render it in the view.`,
    );
  }
  try {
    return toJson(props, { strict: true });
  } catch (error) {
    if (!(error instanceof SerializeError)) throw error;
    throw new MarkupError(`The view ${name} has a prop that cannot be sent to the browser. ${error.message}`);
  }
}

/**
 * Prefixes the ids of `useId` in an island with its number, so that they are unique in the page. 0 is the page outside
 * islands. `hydrateIsland` in src/browser/islands.ts sets the same field.
 */
function numberIds<T extends object>(root: T, index: number): T {
  return Object.assign(root, { __m: [index + 1, 0] }); // Preact's internal field, under its minified name
}

/**
 * The server's version of `subscribe`. It is called only if a view subscribes while it renders, because `on_mount` does
 * not run on the server.
 *
 * @throws Error always
 */
export function subscribe(): never {
  throw new Error("subscribe() was called on the server. Call it inside on_mount(), which runs in the browser only.");
}

/**
 * The server's version of `live`: the value that the page has loaded.
 *
 * @throws TypeError if `handle` is not what `live` of a query returns
 */
export function live<Value>(handle: LiveHandle<Value>): Live<Value> {
  checkLiveHandle(handle);
  return { value: handle.value, error: undefined, pending: [] };
}

/**
 * The server's version of `form` for views: the state of the form in the request that renders the page.
 *
 * @throws TypeError for a value that is not a server function, for a stream, and for an unknown option
 */
export function form<F extends FormFunction>(
  fn: F,
  options: ViewFormOptions<Awaited<ReturnType<F>>> = {},
): ViewFormHandle<Awaited<ReturnType<F>>, FieldName<F>> {
  rejectUnknownOptions(options, OPTIONS, "form()");
  const view = { pending: false, progress: 0, reset: () => undefined };
  const handle = createFormHandle(fn, options, view);
  const forms = getActiveRender()?.forms;
  if (forms && (handle.error || handle.result !== undefined)) forms.isSubmissionInView = true;
  // The result and the names of the fields are those of the function.
  return handle as unknown as ViewFormHandle<Awaited<ReturnType<F>>, FieldName<F>>;
}

const OPTIONS: Readonly<Record<keyof ViewFormOptions, true>> = { key: true, done: true };
