/** The check for effects that change the state each time they run, in development. */
import { Component } from "preact";
import { componentName } from "./component-name.ts";
import { reportWarning } from "./report.ts";

/** A component with the effects of `preact/hooks`, under their minified names. */
interface ComponentWithEffects extends Component {
  /** The effects that run after the next paint; `__` is the function of one. */
  __H?: { readonly __h: { __?: unknown }[] };
}

/** How often in a row an effect may change the state. */
const MAX_CHANGES = 50;

/** The effect that is running. */
let running: { hasChanged: boolean; readonly name: string; readonly isReported: boolean } | undefined;

/** How often in a row the effects of a component have changed the state. */
const changes = new WeakMap<object, number>();

/** The functions that count. */
const counting = new WeakSet<object>();

/**
 * Observes the effects of a component that was rendered. One that changes the state in each of many runs in a row is reported:
 * the component is rendered again and again, once for each frame of the screen, which looks like a page that works. Effects
 * that run before the paint end in an error (`slot.ts`).
 */
export function checkEffects(component: ComponentWithEffects | undefined): void {
  const effects = component?.__H?.__h;
  if (!component || !effects || effects.length === 0) return;
  observeChanges();
  for (const effect of effects) {
    const run = effect.__;
    if (typeof run !== "function" || counting.has(run)) continue;
    const counted = () => {
      const count = changes.get(component) ?? 0;
      const outer = running;
      running = { hasChanged: false, name: componentName(component), isReported: count + 1 === MAX_CHANGES };
      try {
        return run();
      } finally {
        changes.set(component, running.hasChanged ? count + 1 : 0);
        running = outer;
      }
    };
    counting.add(counted);
    effect.__ = counted;
  }
}

let isObserving = false;

/** Notices changes of states while an effect runs: `state()` and the hooks of Preact use these methods. */
function observeChanges(): void {
  if (isObserving) return;
  isObserving = true;
  for (const method of ["setState", "forceUpdate"] as const) {
    const original: (...args: never[]) => void = Component.prototype[method];
    Component.prototype[method] = function (this: Component, ...args: never[]) {
      if (running && !running.hasChanged) {
        running.hasChanged = true;
        // Created here, so that its stack has the line of the change.
        if (running.isReported) reportWarning(new Error(messageFor(running.name)));
      }
      return original.apply(this, args);
    };
  }
}

function messageFor(name: string): string {
  return (
    `An effect of ${name} changes the state each time it runs, so ${name} is rendered again and again. Pass the values on ` +
    "which the effect depends, `useEffect(() => …, [id])`, or use on_mount, which runs once."
  );
}
