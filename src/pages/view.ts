import {
  type ComponentChildren,
  createContext,
  Fragment,
  type FunctionComponent,
  h,
  isValidElement,
  type VNode,
} from "preact";
import { useContext } from "preact/hooks";
import { SerializeError, toJson, type ViewSource } from "../protocol/index.ts";

import { activeRender, MarkupError, markViewBody, refuseAsync } from "./rendering.ts";

/** Whether we are inside a view: an inner one is part of the outer one's island. */
const Inside = createContext(false);

/**
 * The server's twin of the browser's `view`: renders the view, and notes the outermost ones for the
 * page so that the browser can bring them to life.
 */
export function view<P extends object>(fn: (props: P) => ComponentChildren, source?: ViewSource): FunctionComponent<P> {
  const name = source?.name ?? (fn.name || "view");

  const Body = (props: P) => {
    const markup = fn(props);
    refuseAsync(name, markup);
    return markup;
  };
  markViewBody(Body);

  const View: FunctionComponent<P> = (props) => {
    const render = activeRender();
    if (useContext(Inside) || !render) return h(Body as FunctionComponent<P>, props);
    if (!source) throw new Error(notCompiled(name));
    if (render.inHead) throw new MarkupError(`The view ${name} stands in <Head>, where nothing can come alive.`);
    refuseChildren(name, props);
    const json = propsJson(name, props);
    const index = render.islands.push({ source, props: json }) - 1;
    // Rendered with what the browser will have, so that both render the same.
    const body = h(Body as FunctionComponent<P>, JSON.parse(json));
    maskIds(body as object, index);
    return h(Fragment, null, [
      comment(`${render.mark}:${index}`),
      h(Inside.Provider, { value: true, children: body }),
      comment(`/${render.mark}:${index}`),
    ]);
  };
  View.displayName = name;
  return View;
}

function notCompiled(name: string): string {
  return (
    `The view ${name} is in a module that tsweb has not compiled, so the browser could not find it. Run the ` +
    'application with `tsweb dev` or `tsweb build`, and tests with the plugin of "tsweb/vite".'
  );
}

function refuseChildren(name: string, props: object): void {
  if (!("children" in props) || props.children === undefined) return;
  throw new MarkupError(
    `The view ${name} was given children in a page. Only its props travel to the browser, as JSON: ` +
      "let the view make its own children, or wrap both in a view.",
  );
}

function propsJson(name: string, props: object): string {
  for (const [prop, value] of Object.entries(props)) {
    if (isValidElement(value))
      throw new MarkupError(`The view ${name} was given markup (${prop}): props travel as JSON.`);
  }
  try {
    return toJson(props, { strict: true });
  } catch (error) {
    if (!(error instanceof SerializeError)) throw error;
    throw new MarkupError(`The view ${name} was given a prop that does not travel to the browser. ${error.message}`);
  }
}

/**
 * Gives the ids of `useId` below a root a number of their own: else those of two islands would be
 * the same. 0 is the page's own. The browser's script does the same to the roots it hydrates.
 */
function maskIds(root: { __m?: [number, number] }, index: number): void {
  root.__m = [index + 1, 0]; // Preact's own field, under its published name
}

function comment(text: string): VNode {
  // The renderer's way to write a comment; it has no type for it.
  return h(Fragment, { UNSTABLE_comment: text } as object);
}
