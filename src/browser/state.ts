import { isValidElement } from "preact";
import { slot } from "./slot.ts";

/** The array methods that compare by identity: an item is found as an original or as a proxy. */
const SEARCH_METHODS: readonly PropertyKey[] = ["includes", "indexOf", "lastIndexOf"];

/**
 * Returns the state of a component: an object whose changes re-render the component. Nested objects and changes of
 * arrays (`push`, `splice`, `sort`, an index, `length`, `delete`) are included.
 *
 * - Call it at the top of the component, not in a condition or a loop: calls are identified by their order.
 * - Several assignments in one task cause one rendering. Assigning an equal value causes none.
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
  return slot("state", (component) => createProxy(initial, () => component.forceUpdate()));
}

/** Returns a proxy of a value that calls `onChange` for each change in it, at any depth. */
function createProxy<T>(value: T, onChange: () => void): T {
  const RAW = Symbol();
  const proxies = new WeakMap<object, object>();

  // biome-ignore lint/suspicious/noExplicitAny: any value may be passed; only proxies have this property
  const toRaw = (value: any): unknown => value?.[RAW] ?? value;

  // biome-ignore lint/suspicious/noExplicitAny: any value may be read; it keeps its type
  const wrap = (value: any): any => {
    if (!isWrappable(value) || toRaw(value) !== value) {
      // Bundlers remove this from production.
      if (process.env.NODE_ENV !== "production") rejectInstance(value);
      return value;
    }
    const existing = proxies.get(value);
    if (existing) return existing;
    const proxy = new Proxy(value, handler);
    proxies.set(value, proxy);
    return proxy;
  };

  // biome-ignore lint/suspicious/noExplicitAny: the type argument of ProxyHandler, for objects of any type
  const handler: ProxyHandler<any> = {
    get: (target, key, receiver) =>
      key === RAW
        ? target
        : Array.isArray(target) && SEARCH_METHODS.includes(key) // all three have the same signature
          ? (item: object, ...from: number[]) => target.map(toRaw)[key as "indexOf"](toRaw(item), ...from)
          : // A package may freeze what it receives, as Immer does. A proxy must return the values of a frozen object unchanged.
            isWrappable(target)
            ? wrap(Reflect.get(target, key, receiver))
            : target[key],
    // Assignments end here, too, also those by setters and array methods.
    defineProperty(target, key, property) {
      const isData = "value" in property;
      if (isData) property.value = toRaw(property.value);
      if (process.env.NODE_ENV !== "production") rejectInstance(property.value);
      const isSame = isData && Object.hasOwn(target, key) && Object.is(target[key], property.value);
      const done = Reflect.defineProperty(target, key, property);
      if (!isSame) onChange();
      return done;
    },
    deleteProperty(target, key) {
      if (key in target) onChange();
      return Reflect.deleteProperty(target, key);
    },
  };

  return wrap(value);
}

/** Returns whether a value is a plain object or array, not frozen (a proxy may not change its values) and not markup. */
function isWrappable(value: unknown): value is object {
  if (typeof value !== "object" || !value || Object.isFrozen(value) || isValidElement(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || !prototype;
}

/**
 * Throws for an instance of a class whose changes the state does not observe. Built-in classes and errors are accepted,
 * and all values on the server, which does not observe changes.
 */
function rejectInstance(value: unknown): void {
  if (typeof document === "undefined" || typeof value !== "object" || !value) return;
  if (value instanceof Error || Object.isFrozen(value) || isWrappable(value)) return;
  const type: unknown = (value as object).constructor; // isWrappable has narrowed it to never
  if (typeof type !== "function" || type === Object || String(type).includes("[native code]")) return;
  throw new TypeError(
    `state() cannot observe changes in an instance of ${type.name || "a class"}. Store a plain object or an array ` +
      "instead. An instance that never changes can be stored if it is frozen: Object.freeze(instance).",
  );
}
