/** The checks of `state`, of effects, `on_mount` and `on_unmount` in development: bundlers remove them from production. */
import { Component } from "preact";
import { componentName } from "./component-name.ts";
import { reportWarning } from "./report.ts";

/** @throws TypeError if the argument of `state` has no fields that can be assigned */
export function checkInitialState(initial: unknown): void {
  if (typeof initial === "object" && initial !== null && !isThenable(initial)) return;
  const received =
    typeof initial === "function" ? "a function" : initial instanceof Object ? "a promise" : JSON.stringify(initial);
  throw new TypeError(
    `state() takes an object, and received ${received ?? String(initial)}. Write its variables as fields: ` +
      "`const counter = state({ count: 0 })`, and read and assign `counter.count`.",
  );
}

/**
 * Throws if a promise replaces a value that is none. `null`, `undefined` and `false` may be replaced: a call may be stored to
 * cancel it.
 *
 * @throws TypeError with the name of the field
 */
export function rejectPromise(key: PropertyKey, previous: unknown, value: unknown): void {
  if (!isThenable(value) || previous === undefined || previous === null || previous === false) return;
  if (isThenable(previous)) return;
  const name = String(key);
  throw new TypeError(
    `A promise was assigned to "${name}" of a state, in place of ${Array.isArray(previous) ? "an array" : `a value of the type ${typeof previous}`}. ` +
      `Await it: \`${/^\w+$/.test(name) ? `state.${name}` : "state.value"} = await load()\`.`,
  );
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/**
 * Throws for an instance of a class whose changes the state does not observe. Built-in classes and errors are accepted,
 * and all values on the server, which does not observe changes.
 *
 * @param isObserved whether the state observes the value
 */
export function rejectInstance(value: unknown, isObserved: boolean): void {
  if (typeof document === "undefined" || typeof value !== "object" || !value) return;
  if (value instanceof Error || Object.isFrozen(value) || isObserved) return;
  const type: unknown = value.constructor;
  if (typeof type !== "function" || type === Object || String(type).includes("[native code]")) return;
  throw new TypeError(
    `state() cannot observe changes in an instance of ${type.name || "a class"}. Store a plain object or an array ` +
      "instead. An instance that never changes can be stored if it is frozen: Object.freeze(instance).",
  );
}

/** How often a component may be rendered for changes that its renderings make. The server renders it 25 times, too. */
const MAX_RENDERINGS = 25;

/**
 * Throws if each rendering of a component changes its state. `countRendering` in slot.ts ends such a loop in production too,
 * but without the location of the assignment.
 *
 * @param root the object that was passed to `state`
 * @param target the object in it that has changed
 */
export function rejectEndlessChange(
  component: Component & { readonly renderings?: number },
  root: object,
  target: object,
  key: PropertyKey,
): void {
  if ((component.renderings ?? 0) < MAX_RENDERINGS) return;
  const parent = pathOf(root, target) ?? [];
  const path = [...parent, String(key)].join(".");
  throw new Error(
    `Each rendering of ${componentName(component)} changes "${path}" of a state, so the rendering would never end. ` +
      `Assign it in an event handler or in on_mount, or compute the value without storing it.${arrayAdvice(target, parent)}`,
  );
}

/** `[...list].sort()` reads like `list.sort()`, and only the latter changes the state. */
function arrayAdvice(target: object, path: readonly string[]): string {
  if (!Array.isArray(target)) return "";
  const key = path.at(-1) ?? "";
  const name = /^[a-z_$][\w$]*$/i.test(key) ? key : "list";
  return ` sort(), reverse() and push() change the array itself. Copy it first: \`[...${name}].reverse()\`.`;
}

/** Returns the keys that lead from an object to another one in it. */
function pathOf(from: object, to: object, visited = new Set<object>()): string[] | undefined {
  if (from === to) return [];
  visited.add(from);
  for (const [key, value] of Object.entries(from)) {
    if (typeof value !== "object" || value === null || visited.has(value)) continue;
    const rest = pathOf(value, to, visited);
    if (rest) return [key, ...rest];
  }
  return undefined;
}

/** @throws TypeError if the argument is no function, as when it was called already */
export function checkCallback(caller: "on_mount" | "on_unmount", fn: unknown): void {
  if (typeof fn === "function") return;
  const received = fn instanceof Promise ? "a promise" : fn === null ? "null" : `a value of the type ${typeof fn}`;
  throw new TypeError(
    `${caller}() takes a function, and received ${received}. Pass the function without calling it: \`${caller}(start)\`, ` +
      `or \`${caller}(() => start())\`.`,
  );
}

/**
 * Returns a function that reports an async function of `on_mount` whose promise has a function as its result, which nothing
 * would call. It is created while `on_mount` is called, so that the warning has that location.
 */
export function asyncCleanupCheck(): (result: unknown) => void {
  const warning = new Error(
    "The function of on_mount is async and returns a function, which is never called: on_mount does not await the promise. " +
      "Stop what was started in a function that the component passes to on_unmount, or return the function from one that is " +
      "not async.",
  );
  return (result) => {
    if (!(result instanceof Promise)) return;
    // A rejection is one of the new promise, and stays an uncaught error of the page.
    void result.then((cleanup) => {
      if (typeof cleanup === "function") reportWarning(warning);
    });
  };
}

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
