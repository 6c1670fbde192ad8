/** The checks of elements in JSX: of what stands for their name, attributes that cannot work, elements of React, and objects as children. */

/** The names that the parser of HTML and the renderer accept: of elements, of custom elements and of SVG. */
const ELEMENT_NAME = /^[a-z][^\s/>"'<=]*$/i;

/**
 * Returns why an element cannot be rendered with a type, and how to fix it; `undefined` for components, names of elements,
 * and what React has created, which has a message of its own.
 */
export function invalidTypeMessage(type: unknown): string | undefined {
  if (typeof type === "function" || typeof type === "symbol") return undefined;
  if (typeof type === "string") return ELEMENT_NAME.test(type) ? undefined : textMessage(type);
  if (type === undefined) {
    return (
      "The component of this element is undefined. Check its import: its module has no export of this name, or the two " +
      "modules import each other."
    );
  }
  if (typeof type !== "object" || type === null) return noComponent(String(type));
  if (isModule(type)) {
    const names = Object.keys(type).filter((name) => typeof Reflect.get(type, name) === "function");
    return (
      "The component of this element is a module: its import has the form `import * as name`. Import the component by its " +
      `name: \`import { ${names[0] ?? "Name"} } from "…"\`.`
    );
  }
  // The `constructor` of Preact's elements is no function.
  if (typeof type.constructor !== "function" && "type" in type)
    return "The component of this element is an element already. Render it as a value: `{row}` in place of `<row />`.";
  if ("$$typeof" in type) return undefined;
  if (type instanceof Promise) return noComponent("a promise");
  return noComponent(Array.isArray(type) ? "an array" : "an object");
}

function textMessage(type: string): string {
  const text = JSON.stringify(type.length > 60 ? `${type.slice(0, 60)}…` : type);
  if (!/^data:|\//.test(type))
    return `The element has the name ${text}. Use the name of an element of HTML or a component.`;
  return (
    `The component of this element is the URL ${text}: imports of images and other files are URLs. Write ` +
    '`<img src={url} alt="" />` with the imported name as `src`.'
  );
}

function noComponent(received: string): string {
  return (
    `The component of this element is ${received}. Check its import and its declaration: a component is a function that ` +
    "returns markup."
  );
}

function isModule(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Module]";
}

/**
 * Returns which attribute of an element has a value that is ignored or would become a text such as `[object Object]`, and how
 * to fix it: browsers would show nothing of it, and no error. Returns `undefined` if there is none, and when unsure.
 */
export function invalidPropMessage(type: string, props: object): string | undefined {
  if (type.includes("-")) return undefined; // the properties of a custom element may be anything
  if (type === "textarea") {
    const message = textareaMessage(props);
    if (message) return message;
  }
  for (const [name, value] of Object.entries(props)) {
    if (value === "false" && BOOLEAN_ATTRIBUTES.has(name.toLowerCase())) {
      return `The attribute ${name} of <${type}> is the text "false". Any text turns it on. Write \`${name}={false}\`, or leave it out.`;
    }
    if (isTextHandler(name, value)) {
      return `${name} of <${type}> is ${describeHandler(value)}, not a function. Write \`${name}={() => …}\`: the code after the arrow runs at the event.`;
    }
    if (typeof value !== "object" && name !== "dangerouslySetInnerHTML") continue;
    const fix = value === null || value === undefined ? undefined : fixOf(name, value);
    if (fix) return `The attribute ${name} of <${type}> is ${describe(value)}. ${fix}`;
  }
  return undefined;
}

/**
 * Returns whether an event handler has a value that can never be called: Preact adds the listener, and fails at the event.
 * Conditions without a function, such as `items.length && save`, are accepted. `onclick`, in lowercase, is an attribute of HTML.
 */
function isTextHandler(name: string, value: unknown): boolean {
  return isHandlerName(name) && Boolean(value) && typeof value !== "function" && typeof value !== "object";
}

/** Returns whether a prop of an element is an event handler of JSX, such as `onClick`. */
function isHandlerName(name: string): boolean {
  return /^on[A-Z]/.test(name);
}

/** The value itself is not shown: it may be the data of a user. */
function describeHandler(value: unknown): string {
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

/** The attributes of HTML that are on if they are present, whatever their value is. */
const BOOLEAN_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...["allowfullscreen", "async", "autofocus", "autoplay", "checked", "controls", "default", "defer", "disabled"],
  ...["formnovalidate", "hidden", "inert", "ismap", "itemscope", "loop", "multiple", "muted", "nomodule", "novalidate"],
  ...["open", "playsinline", "readonly", "required", "reversed", "selected"],
]);

/** Returns the message for a text area with two different texts: pages show its children, and browsers its value. */
function textareaMessage(props: object): string | undefined {
  const { children, value, defaultValue = value }: Readonly<Record<string, unknown>> = { ...props };
  if (!isText(children) || !isText(defaultValue) || String(children) === String(defaultValue)) return undefined;
  const name = isText(value) ? "value" : "defaultValue";
  return `The <textarea> has children and \`${name}\`, which are different texts. Leave out the children.`;
}

function isText(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function fixOf(name: string, value: unknown): string | undefined {
  switch (name) {
    case "class":
    case "className":
      if (!isPlain(value)) return undefined;
      return `It takes a text: \`${name}={[isOpen && "open", isNew && "new"].filter(Boolean).join(" ")}\`.`;
    case "style":
      return Array.isArray(value) ? "It takes one object, or a text: `style={{ ...base, ...special }}`." : undefined;
    case "dangerouslySetInnerHTML":
      if (value === false || (typeof value === "object" && value !== null && "__html" in value)) return undefined;
      return "It takes an object with the HTML: `dangerouslySetInnerHTML={{ __html: html }}`.";
    default:
      if (!isHandlerName(name) || !(value instanceof Promise)) return undefined;
      return `It takes a function, which was called while the element was rendered. Write \`${name}={() => save()}\`, or \`${name}={save}\`.`;
  }
}

/** Returns whether a value would become `[object Object]`, or a list with commas. Signals, for example, become a text. */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) || (value as object).toString === Object.prototype.toString; // called for objects only
}

function describe(value: unknown): string {
  if (typeof value !== "object") return `a value of the type ${typeof value}`;
  return value instanceof Promise ? "a promise" : Array.isArray(value) ? "an array" : "an object";
}

// What React itself creates: Preact ignores such an element, and its hooks fail. Packages that bundle React use it too.

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

// Objects as children of elements: the renderers of the server and of the browser ignore them.

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
  const fix = childFixOf(child as object); // describeUnrenderable describes objects only
  return `A${description.slice(1)} cannot be rendered in ${where}. ${fix}`;
}

function childFixOf(child: object): string {
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
