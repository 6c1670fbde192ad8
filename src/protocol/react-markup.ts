/** What React itself creates: Preact ignores such an element, and its hooks fail. Packages that bundle React use it too. */

/**
 * Returns whether a value is an element that React has created. React's are plain objects. The `constructor` of Preact's
 * elements, also with `preact/compat`, is no function: JSON cannot imitate that.
 */
export function isReactElement(value: unknown): value is { readonly type?: unknown } {
  return isReactObject(value) && typeof value.constructor === "function";
}

/**
 * Returns whether the type of an element is a component that React has created: a result of its `memo`, `forwardRef`, `lazy`
 * or `createContext`, one of its built-in components such as `Suspense`, or a class that extends its `Component`.
 *
 * @param Component the base class of Preact, which the classes of `preact/compat` extend
 */
export function isReactType(type: unknown, Component: abstract new (...args: never[]) => unknown): boolean {
  if (typeof type === "symbol" || isReactObject(type)) return true;
  const prototype: unknown = typeof type === "function" ? type.prototype : undefined;
  return isClass(prototype) && "isReactComponent" in prototype && !(prototype instanceof Component);
}

/** Returns whether an error is that of a hook of React which a component called while Preact rendered it. */
export function isReactHookError(error: unknown): boolean {
  // React finds no renderer: "Cannot read properties of null (reading 'useState')"; other engines word it differently.
  return error instanceof TypeError && /\bnull\b/.test(error.message) && /\buse(?:[A-Z]\w*)?\b/.test(error.message);
}

/** Returns whether an error is that of a hook of another copy of Preact than the one that renders. */
export function isPreactCopyError(error: unknown): boolean {
  return error instanceof TypeError && /\bundefined\b/.test(error.message) && /\b__H\b/.test(error.message);
}

/**
 * Returns the message for a component or an element that React has created.
 *
 * @param type the type of the element
 */
export function reactMessage(type: unknown): string {
  return (
    `${describeType(type)} was made with React, which cannot be rendered here: pages and views are rendered with Preact. ` +
    "Install Preact's compatibility package under React's names: npm install react@npm:@preact/compat " +
    "react-dom@npm:@preact/compat. If that is done, a package contains or brings its own React: find it with npm ls react, " +
    "or replace the package."
  );
}

/** Returns the message for a component whose hooks are those of another copy of Preact. */
export function preactCopyMessage(type: unknown): string {
  return (
    `${describeType(type)} uses the hooks of another copy of Preact than the one that renders the page. ` +
    "Find the copies with npm ls preact, and install one version: npm dedupe."
  );
}

function describeType(type: unknown): string {
  if (typeof type === "string") return `<${type}>`;
  if (typeof type === "symbol") return `<${type.description?.replace("react.", "") ?? ""}>`;
  const name =
    nameOf(type) || (isReactObject(type) && nameOf(Reflect.get(type, "type") ?? Reflect.get(type, "render")));
  return name ? `<${name}>` : "A component";
}

function nameOf(type: unknown): string | undefined {
  if (typeof type !== "function" && !isReactObject(type)) return undefined;
  const name: unknown = Reflect.get(type, "displayName") || Reflect.get(type, "name");
  return typeof name === "string" ? name : undefined;
}

function isReactObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && "$$typeof" in value && typeof value.$$typeof === "symbol";
}

function isClass(prototype: unknown): prototype is object {
  return typeof prototype === "object" && prototype !== null && "render" in prototype;
}

/** Objects as children of elements: the renderers of the server and of the browser ignore them. */

/** Returns a description of a value that cannot be rendered, or `undefined` for markup. */
export function describeUnrenderable(child: unknown): string | undefined {
  // The `constructor` of elements is no function. Preact renders instances of String as text.
  if (
    typeof child !== "object" ||
    child === null ||
    typeof child.constructor !== "function" ||
    child instanceof String
  ) {
    return undefined;
  }
  if (Array.isArray(child) || isReactElement(child)) return undefined; // elements of React have a message of their own
  if (isThenable(child)) return "a promise";
  return `an object (${child.constructor.name || "Object"})`;
}

/**
 * Returns the message for a child that is an object, or `undefined` for markup and for a promise.
 *
 * @param where where it is rendered: `<p>`
 */
export function unrenderableMessage(child: unknown, where: string): string | undefined {
  const description = describeUnrenderable(child);
  if (description === undefined || isThenable(child)) return undefined;
  const fix = fixOf(child as object); // describeUnrenderable describes objects only
  return `A${description.slice(1)} cannot be rendered in ${where}. ${fix}`;
}

function fixOf(child: object): string {
  // Elements and events of browsers: their own fields are those of Preact.
  if ("nodeType" in child || "currentTarget" in child) {
    return "Store what you need of it, for example `event.currentTarget.value`, and render that.";
  }
  const fields = Object.keys(child);
  if (fields.length === 0) {
    const text = child instanceof Date ? "date.toISOString()" : "String(value)";
    return `Render a text that is made of it, for example \`{${text}}\`.`;
  }
  const names = `${fields.slice(0, 5).join(", ")}${fields.length > 5 ? ", …" : ""}`;
  return `Render one of its fields (${names}), for example \`{user.${fields[0]}}\`.`;
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown }).then === "function"; // called for objects only
}
