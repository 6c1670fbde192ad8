import { type Component, isValidElement } from "preact";
import { recordInitialState } from "./dev/hot-state.ts";
import { checkMisuse } from "./dev/misuse.ts";
import { checkInitialState, rejectEndlessChange, rejectInstance, rejectPromise } from "./dev/state-checks.ts";
import { slot } from "./slot.ts";

/** The array methods that compare by identity: an item is found as an original or as a proxy. Short in the browser. */
const SEARCH_METHODS = /ndexOf$|^includes$/;

/** The fields that Preact sets on the nodes of a rendering. */
const PREACT_FIELDS = /^__[bceiu]?$/;

/** The property of a proxy that is its object. It is the same for all states: V8 looks up a new symbol slowly. */
const RAW = Symbol();

/**
 * Returns the state of a component: an object whose changes re-render the component. Nested objects and changes of
 * arrays (`push`, `splice`, `sort`, an index, `length`, `delete`) are included.
 *
 * - Call it at the top of the component, not in a condition or a loop: calls are identified by their order.
 * - Several assignments in one task cause one rendering. Assigning an equal value causes none, except in a handler of `input`,
 *   `change` or `click`: a field then shows its value again in place of what the handler has refused.
 * - Plain objects and arrays are observed at any depth. Other values (a `Date`, a `Map`, errors, frozen objects, markup)
 *   are stored as they are: assign a new one to update the page. An instance of a class of the application or a package
 *   is an error in development, unless it is frozen: its changes would not update the page.
 * - Reading returns a proxy, always the same one for the same object. Only changes through the proxy are observed, so
 *   keep the object that you read, not the one that you assigned.
 *
 * @param initial the values at the first rendering; ignored at later ones
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development, for an instance of a class
 * @example
 * const form = state({ email: "", errors: [] as string[] });
 * form.errors.push("This is not an email address.");
 */
export function state<T extends object>(initial: T): T {
  // Bundlers remove the checks from production.
  if (process.env.NODE_ENV !== "production") checkInitialState(initial);
  return slot("state", (component) => {
    const proxy = createProxy(initial, component);
    if (process.env.NODE_ENV !== "production") recordInitialState(proxy, initial);
    return proxy;
  });
}

/** Returns a proxy of a value that renders a component again for each change in it, at any depth. */
export function createProxy<T extends object>(value: T, component: Component): T {
  const proxies = new WeakMap<object, object>();
  /** The event during which the state was changed last: effects of its rendering cause no other one. */
  let handled: Event | undefined;

  // biome-ignore lint/suspicious/noExplicitAny: any value may be passed; only proxies have this property
  const toRaw = (value: any): unknown => (proxies.get(value?.[RAW]) === value ? value?.[RAW] : value);

  // biome-ignore lint/suspicious/noExplicitAny: any value may be read; it keeps its type
  const wrap = (value: any): any => {
    if (!isWrappable(value) || toRaw(value) !== value) {
      if (process.env.NODE_ENV !== "production") rejectInstance(value, isWrappable(value));
      return value;
    }
    const proxy = proxies.get(value) ?? new Proxy(value, handler);
    proxies.set(value, proxy);
    return proxy;
  };

  // biome-ignore lint/suspicious/noExplicitAny: the type argument of ProxyHandler, for objects of any type
  const handler: ProxyHandler<any> = {
    get: (target, key, receiver) =>
      key === RAW
        ? target
        : Array.isArray(target) && SEARCH_METHODS.test(String(key)) // all three have the same signature
          ? (item: object, ...from: number[]) => target.map(toRaw)[key as "indexOf"](toRaw(item), ...from)
          : // A package may freeze what it receives, as Immer does. A proxy must return the values of a frozen object unchanged.
            isWrappable(target)
            ? wrap(Reflect.get(target, key, receiver))
            : target[key],
    // Assignments end here, too, also those by setters and array methods.
    defineProperty(target, key, property) {
      // Preact sets its fields on an object that is a child. Without them it renders nothing in its place.
      if (PREACT_FIELDS.test(String(key))) {
        // In development, dev/markup-checks.ts throws before.
        if (property.value && key === "__") reportError(new Error("Object rendered"));
        return true;
      }
      const isData = "value" in property;
      if (isData) property.value = toRaw(property.value);
      if (process.env.NODE_ENV !== "production") {
        checkMisuse(() => {
          rejectInstance(property.value, isWrappable(property.value));
          rejectPromise(key, target[key], property.value);
        });
      }
      const isSame = isData && Object.hasOwn(target, key) && Object.is(target[key], property.value);
      // A field that shows what the handler of its input has refused is rendered with the same value again.
      const { event } = globalThis; // deprecated, and in all browsers: handlers need not pass it on
      const isRefused = event !== handled && /input|change|click/.test(`${event?.type}`);
      handled = event;
      if (!isSame || isRefused) {
        if (!isSame && process.env.NODE_ENV !== "production") rejectEndlessChange(component, value, target, key);
        component.forceUpdate(); // renders later, with the new value
      }
      return Reflect.defineProperty(target, key, property);
    },
    deleteProperty(target, key) {
      if (key in target) {
        if (process.env.NODE_ENV !== "production") rejectEndlessChange(component, value, target, key);
        component.forceUpdate();
      }
      return Reflect.deleteProperty(target, key);
    },
  };

  return wrap(value);
}

/** Returns whether a value is a plain object or array, not frozen (a proxy may not change its values) and not markup. */
function isWrappable(value: unknown): value is object {
  if (Object.isFrozen(value) || isValidElement(value)) return false; // all values that are no objects are frozen
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || !prototype;
}
