import type { Component } from "preact";
import { afterRender, slot } from "./slot.ts";

/** The component whose `on_mount` is running. */
let mounting: Component | undefined;

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
  // Asked for at every rendering, since Preact forgets those of a rendering that it begins again.
  afterRender(
    slot("on_mount", (component) => {
      let hasRun = false;
      return () => {
        if (hasRun) return;
        hasRun = true;
        mounting = component;
        const cleanup = guard(fn);
        mounting = undefined;
        if (typeof cleanup === "function") beforeLeaving(component, cleanup as () => unknown); // it is passed nothing
      };
    }),
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
  slot("on_unmount", (component) => {
    beforeLeaving(component, fn);
    return fn;
  });
}

/** Ends with the component, by calling `stop`, what its `on_mount` is starting. Elsewhere it does nothing. */
export function endWithMount(stop: () => unknown): void {
  if (mounting) beforeLeaving(mounting, stop);
}

function beforeLeaving(component: Component, fn: () => unknown): void {
  const earlier = component.componentWillUnmount;
  component.componentWillUnmount = () => {
    earlier?.call(component);
    guard(fn);
  };
}

/** Calls `fn`. An error would end the round through the others, Preact's or ours: it is reported instead. */
export function guard(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    reportError(error);
  }
}
