import type { Component } from "preact";
import { asyncCleanupCheck, checkCallback } from "./dev/state-checks.ts";
import { afterRender, slot } from "./slot.ts";

/** The component whose `on_mount` is running. */
let mounting: Component | undefined;

/**
 * Runs `fn` once, after the component is in the page. It does not run on the server.
 *
 * If `fn` returns a function, that function is called when the component is removed. `fn` may be async, but its promise
 * is not awaited. An error, or a rejection, is an uncaught error of the page and does not affect other components.
 *
 * @param fn the function of the first rendering; that of later ones is ignored
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development, if `fn` is no function
 * @example on_mount(() => { const timer = setInterval(tick, 1000); return () => clearInterval(timer); });
 */
export function on_mount(fn: () => unknown): void {
  // Bundlers remove the checks from production.
  if (process.env.NODE_ENV !== "production") checkCallback("on_mount", fn);
  // Queued at every rendering, because Preact drops the queue of a rendering that it restarts.
  afterRender(
    slot("on_mount", (component) => {
      let hasRun: boolean | undefined;
      const checkCleanup = process.env.NODE_ENV === "production" ? undefined : asyncCleanupCheck();
      return () => {
        if (hasRun) return;
        hasRun = true;
        mounting = component;
        const cleanup = callSafely(fn);
        mounting = undefined;
        if (process.env.NODE_ENV !== "production") checkCleanup?.(cleanup);
        if (typeof cleanup === "function") addCleanup(component, cleanup as () => unknown); // it is called without arguments
      };
    }),
  );
}

/**
 * Runs `fn` when the component is removed, while its elements are still in the page. `fn` is the function of the first
 * rendering, as in {@link on_mount}. It does not run when the page is closed.
 *
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development, if `fn` is no function
 * @example on_unmount(() => stream.cancel());
 */
export function on_unmount(fn: () => unknown): void {
  if (process.env.NODE_ENV !== "production") checkCallback("on_unmount", fn);
  slot("on_unmount", (component) => {
    addCleanup(component, fn);
    return fn;
  });
}

/** Calls `stop` when the component whose `on_mount` is running is removed. Outside `on_mount` it does nothing. */
export function stopOnUnmount(stop: () => unknown): void {
  if (mounting) addCleanup(mounting, stop);
}

function addCleanup(component: Component, fn: () => unknown): void {
  const previous = component.componentWillUnmount;
  component.componentWillUnmount = () => {
    previous?.call(component);
    callSafely(fn);
  };
}

/** Calls `fn` and reports its error as uncaught, so that the loop of the caller, Preact's or ours, continues. */
export function callSafely(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    reportError(error);
  }
}
