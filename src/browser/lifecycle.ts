import { useLayoutEffect } from "preact/hooks";
import { inside } from "./inside.ts";

/**
 * Runs `fn` once, after the component is in the page. It never runs on the server.
 *
 * A function that it returns is called when the component leaves the page. It may be async: its
 * promise is not waited for. What it throws, or its promise rejects with, is an uncaught error of
 * the page and keeps no other component from running.
 *
 * @throws Error outside of a component's rendering
 * @example on_mount(() => { const timer = setInterval(tick, 1000); return () => clearInterval(timer); });
 */
export function on_mount(fn: () => unknown): void {
  inside("on_mount", () =>
    useLayoutEffect(() => {
      const cleanup = guard(fn);
      if (typeof cleanup === "function") return () => guard(cleanup as () => unknown); // it takes nothing: nothing is passed
    }, []),
  );
}

/**
 * Runs `fn` when the component leaves the page, while its elements are still there. It sees the
 * variables of the first rendering, as {@link on_mount} does. Leaving the whole page does not run it.
 *
 * @throws Error outside of a component's rendering
 * @example on_unmount(() => stream.cancel());
 */
export function on_unmount(fn: () => unknown): void {
  inside("on_unmount", () => useLayoutEffect(() => () => guard(fn), []));
}

/** Preact gives up on the rest of its queue when an effect throws: report the error and go on. */
function guard(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    reportError(error);
  }
}
