import type { Markup, Sendable } from "../protocol/index.ts";

/** The props of a view. They are sent as JSON, except `children`, which only a view inside another view can have. */
export type ViewProps<P> = { [K in keyof P]: K extends "children" ? P[K] : Sendable<P[K]> };

/** The options of a view. */
export interface ViewOptions {
  /** When the view is hydrated and its script is loaded. Default: at once. */
  readonly hydrate: "visible" | "idle";
}

/** A view: a component that is rendered on the server and hydrated in the browser. */
export type View<P> = (props: P) => Markup;

/**
 * Returns a view of a component: it can be used anywhere in the markup of a page, is rendered on the server, and is
 * hydrated in the browser. Export it as a const from a module that is not a server module. In the browser, this function
 * returns the component unchanged; the server's version is in `src/pages/view.ts`.
 *
 * @param fn the component; it is synchronous. Its props are sent as JSON: strings, numbers, booleans, `null`, arrays and
 *   plain objects of these
 * @param options `hydrate: "visible"` hydrates the view when it comes near the screen, and `"idle"` when the browser has nothing else to
 *   do: its script is loaded then. For views below the fold. Written as text: it is read from the source
 * @see docs/protocol.md 11.7
 * @example export const Counter = view(({ start }: { start: number }) => { … });
 */
// biome-ignore lint/complexity/noBannedTypes: {} is the type of the props of a view without props
export function view<P extends ViewProps<P> = {}>(fn: (props: P) => Markup): View<P>;
/** Returns a view with options, see {@link ViewOptions}. */
// biome-ignore lint/complexity/noBannedTypes: as above
export function view<P extends ViewProps<P> = {}>(options: ViewOptions, fn: (props: P) => Markup): View<P>;
export function view(first: unknown, fn: unknown = first): unknown {
  return fn;
}
