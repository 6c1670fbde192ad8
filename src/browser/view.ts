import type { Markup } from "../protocol/index.ts";

type IsAny<T> = 0 extends 1 & T ? true : false;

/** The type itself where it reaches the browser as it is; else a sentence that says what to do. */
type Travelling<T> =
  IsAny<T> extends true
    ? T
    : unknown extends T
      ? T
      : T extends string | number | boolean | null | undefined
        ? T
        : T extends (...args: never[]) => unknown
          ? "a function does not travel to the browser: make it inside the view"
          : T extends bigint | Date | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Uint8Array
            ? "props travel as JSON: pass what the serialiser makes of it (a string, an array, a plain object)"
            : { [K in keyof T]: Travelling<T[K]> };

/** Props of a view: they travel as JSON. Children are for views inside of another view. */
export type ViewProps<P> = { [K in keyof P]: K extends "children" ? P[K] : Travelling<P[K]> };

/** A view: a component that is rendered on the server and alive in the browser. */
export type View<P> = (props: P) => Markup;

/**
 * Makes a component a view: it may stand anywhere in a page's markup, is rendered on the server,
 * and comes alive in the browser where it stands. There it is the component itself.
 *
 * Its props travel as JSON, so they are strings, numbers, booleans, `null`, arrays and plain objects
 * of these.
 *
 * @example export const Counter = view(({ start }: { start: number }) => { … });
 */
// biome-ignore lint/complexity/noBannedTypes: a view without props takes none, which is what {} says
export function view<P extends ViewProps<P> = {}>(fn: (props: P) => Markup): View<P> {
  return fn;
}
