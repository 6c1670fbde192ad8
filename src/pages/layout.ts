import { Fragment, h, isValidElement, type VNode } from "preact";
import { isPromise, Redirect } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import type { LinkedNode } from "./render-state.ts";

/** The result of a layout. */
export type LayoutResult = Markup | Redirect;

/**
 * A function that returns the markup around a page. It may be async: it runs while the page function does. `children` is
 * a placeholder for the markup of the page, to be put into the markup of the layout.
 *
 * What it throws, or a redirect that it returns, decides the response, whatever the page function does. A layout within
 * another one calls it: `return Layout({ children: <section>{children}</section> })`.
 */
export type Layout = (props: { readonly children: Markup }) => LayoutResult | Promise<LayoutResult>;

/**
 * Throws for an option `layout` that is no function, such as the markup of a layout that was called.
 *
 * @param location where the option is, for the message: `new App`
 * @throws TypeError that names what was received, and the fix
 */
export function checkLayout(layout: unknown, location: string): void {
  if (!layout || typeof layout === "function") return;
  const isResult = isValidElement(layout) || isPromise(layout);
  const is = !isResult ? `of type ${typeof layout}` : isPromise(layout) ? "a promise" : "markup";
  const fix = isResult
    ? "Pass the function itself, without calling it: `layout: Layout`"
    : "Write `layout: ({ children }) => <main>{children}</main>`";
  throw new TypeError(`${location}: layout must be a function that returns markup, and it is ${is}. ${fix}.`);
}

/** The markup of a layout that has run. */
export interface LayoutMarkup {
  /** Returns the markup of the layout around `content`. */
  surround(content: Markup): Markup;
}

/** What a function has returned or thrown. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** Runs a function and returns its outcome: at once unless it returns a promise. Never throws and never rejects. */
export function attempt<T>(work: () => T | PromiseLike<T>): Outcome<T> | Promise<Outcome<T>> {
  try {
    const value = work();
    return isPromise(value) ? settle(value) : { ok: true, value };
  } catch (error) {
    return { ok: false, error };
  }
}

async function settle<T>(promise: PromiseLike<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The markup of a layout, or why there is none: the error or the redirect of the layout. */
export type LayoutOutcome = Outcome<LayoutMarkup>;

/** What stands for the markup of a layout on a page without one. */
export const NO_LAYOUT_MARKUP: LayoutMarkup = { surround: (content) => content };

const NO_LAYOUT: LayoutOutcome = { ok: true, value: NO_LAYOUT_MARKUP };

/** Starts a layout. The outcome is there at once unless the layout is async. A redirect that it returns is an error. */
export function startLayout(layout: Layout | null | false): LayoutOutcome | Promise<LayoutOutcome> {
  if (!layout) return NO_LAYOUT;
  const placeholder = new Placeholder();
  const outcome = attempt(() => layout({ children: h(PlaceholderContent, { placeholder }) }));
  return isPromise(outcome)
    ? outcome.then((settled) => toLayoutMarkup(settled, placeholder))
    : toLayoutMarkup(outcome, placeholder);
}

/** The place of the page in the markup of its layout. It is filled before the markup is rendered. */
class Placeholder {
  content: Markup = null;
}

/** Returns whether a node that is being rendered is in the markup of the page, and not in that of its layout. */
export function isInPlaceholder(node: VNode | undefined): boolean {
  for (
    let around: LinkedNode<{ readonly placeholder?: unknown }> | null | undefined = node;
    around;
    around = around.__
  ) {
    if (around.props?.placeholder instanceof Placeholder) return true;
  }
  return false;
}

function PlaceholderContent({ placeholder }: { readonly placeholder: Placeholder }): Markup {
  return h(Fragment, null, placeholder.content);
}
PlaceholderContent.displayName = "children"; // messages do not name it

function toLayoutMarkup(outcome: Outcome<LayoutResult>, placeholder: Placeholder): LayoutOutcome {
  if (!outcome.ok) return outcome;
  const { value: markup } = outcome;
  if (markup instanceof Redirect) return { ok: false, error: markup };
  const surround = (content: Markup) => {
    placeholder.content = content;
    return markup;
  };
  return { ok: true, value: { surround } };
}
