import { isValidElement } from "preact";
import { slot } from "./slot.ts";

/** These find by identity: they look for the item itself, whether it was wrapped or not. */
const SEARCHES: readonly PropertyKey[] = ["includes", "indexOf", "lastIndexOf"];

/**
 * Gives a component variables that update the page: a plain object whose assignments re-render the
 * component, nested ones and changes of arrays (`push`, `splice`, `sort`, an index, `length`,
 * `delete`) included.
 *
 * Call it at the top of the component, not in a condition or a loop: states are told apart by their
 * order. `initial` counts at the first rendering only. Several assignments in one go are one rendering,
 * and writing the value that is there already is none. Plain objects and arrays are followed, to any
 * depth; all else (a `Date`, a `Map`, instances of classes, frozen objects, markup) is kept as it is:
 * assign another to update the page. What is read is always the same object for the same value;
 * keep what you read from it rather than what you put into it, since only the former is followed.
 *
 * @throws Error outside of a component's rendering
 * @example
 * const form = state({ email: "", errors: [] as string[] });
 * form.errors.push("That is no address.");
 */
export function state<T extends object>(initial: T): T {
  return slot("state", (component) => follow(initial, () => component.forceUpdate()));
}

/** Wraps a value so that `changed` is called after each change in it, at any depth. */
function follow<T>(value: T, changed: () => void): T {
  const RAW = Symbol();
  const proxies = new WeakMap<object, object>();

  // biome-ignore lint/suspicious/noExplicitAny: any value may be asked; those that know nothing of it answer undefined
  const raw = (value: any): unknown => value?.[RAW] ?? value;

  // biome-ignore lint/suspicious/noExplicitAny: what is read goes out as it came, wrapped where that is possible
  const wrap = (value: any): any => {
    if (!isFollowed(value) || raw(value) !== value) return value;
    const known = proxies.get(value);
    if (known) return known;
    const proxy = new Proxy(value, handler);
    proxies.set(value, proxy);
    return proxy;
  };

  // biome-ignore lint/suspicious/noExplicitAny: it stands for objects of any kind, as ProxyHandler has it
  const handler: ProxyHandler<any> = {
    get: (target, key, receiver) =>
      key === RAW
        ? target
        : Array.isArray(target) && SEARCHES.includes(key) // so it is called as one of these, all alike
          ? (item: object, ...from: number[]) => target.map(raw)[key as "indexOf"](raw(item), ...from)
          : wrap(Reflect.get(target, key, receiver)),
    // Every assignment ends here too, those by setters and array methods included.
    defineProperty(target, key, property) {
      const isData = "value" in property;
      if (isData) property.value = raw(property.value);
      const isSame = isData && Object.hasOwn(target, key) && Object.is(target[key], property.value);
      const done = Reflect.defineProperty(target, key, property);
      if (!isSame) changed();
      return done;
    },
    deleteProperty(target, key) {
      if (key in target) changed();
      return Reflect.deleteProperty(target, key);
    },
  };

  return wrap(value);
}

/** Plain objects and arrays, but for frozen ones (a proxy may not answer for them) and markup. */
function isFollowed(value: unknown): value is object {
  if (typeof value !== "object" || !value || Object.isFrozen(value) || isValidElement(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || !prototype;
}
