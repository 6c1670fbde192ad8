/** The checks of elements in JSX, in development: of what stands for their name, and of attributes that cannot work. */

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
