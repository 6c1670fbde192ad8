/**
 * What an argument loses when it is sent as JSON: values that arrive as `{}` or `null`, or that JSON does not have. Used
 * by the client, and by stubs in development. The bundle of a production page does not contain it.
 *
 * @see docs/protocol.md 3.8
 */
import { isBlob } from "./form.ts";

/** A value that cannot be sent: what it is, and how to send its content. */
export interface Unsendable {
  /** With its article: `a Set`. */
  readonly what: string;
  /** One sentence. */
  readonly fix: string;
}

/** Where a value is, for the sentences about it. */
interface ValueLocation {
  /** The name of the function. */
  readonly fn: string;
  /** The name of the member or of the parameter that has the value. */
  readonly member: string;
}

type Describe = (location: ValueLocation) => Unsendable;

/** The built-in classes whose instances lose their content, by their tag. */
const BUILT_IN: Readonly<Record<string, Describe>> = {
  Map: ({ member }) => ({ what: "a Map", fix: `Use an object: Object.fromEntries(${member}).` }),
  Set: ({ member }) => ({ what: "a Set", fix: `Use an array: [...${member}].` }),
  FormData: ({ fn }) => ({
    what: "a FormData",
    fix: `Pass its fields as arguments, or use the function as the action of the form: <form action={${fn}}>.`,
  }),
  FileList: ({ member }) => ({
    what: "a FileList",
    fix: `Pass an array of its files, and declare the parameter as File[]: [...${member}].`,
  }),
  URLSearchParams: ({ member }) => ({
    what: "a URLSearchParams",
    fix: `Use an object, Object.fromEntries(${member}), or a string: String(${member}).`,
  }),
  Headers: ({ member }) => ({ what: "a Headers object", fix: `Use an object: Object.fromEntries(${member}).` }),
  RegExp: ({ member }) => ({ what: "a regular expression", fix: `Pass its text: ${member}.source.` }),
  Error: ({ member }) => ({ what: "an Error", fix: `Pass its text: ${member}.message.` }),
};

/** Those of these classes whose instances lose their content even if they have fields of their own. */
const COLLECTIONS: ReadonlySet<string> = new Set(["Map", "Set", "FormData", "FileList", "URLSearchParams", "Headers"]);

/**
 * Describes an object that would lose its content as JSON; `undefined` for any other. A method `toJSON` decides about its
 * object, so the caller checks for it first. Fields of an instance are sent, so an instance with fields is accepted.
 */
export function describeUnsendableObject(value: object, location: ValueLocation): Unsendable | undefined {
  const { member } = location;
  const methods = value as Partial<Record<"then" | "next" | symbol, unknown>>; // only their types are read
  if (typeof methods.then === "function") return { what: "a promise", fix: `Await it first: await ${member}.` };
  if (isBlob(value)) return describeBlob(value, location);
  if (isEvent(value)) return describeEvent(location);
  if (isDomNode(value))
    return { what: "an element of the page", fix: `Pass its content, for example ${member}.value.` };
  if (isMarkup(value)) return { what: "markup", fix: "Pass data, and render it where it is used." };
  if (ArrayBuffer.isView(value) || tagOf(value).endsWith("ArrayBuffer")) return describeBytes(value, location);
  if (typeof methods[Symbol.asyncIterator] === "function") {
    return { what: "a stream", fix: "Read it first, and pass its values as an array." };
  }
  if (typeof methods.next === "function" && typeof methods[Symbol.iterator] === "function") {
    return { what: "an iterator", fix: `Use an array: [...${member}].` };
  }
  const builtIn = BUILT_IN[tagOf(value)];
  const isEmpty = Object.keys(value).length === 0;
  if (builtIn && (isEmpty || COLLECTIONS.has(tagOf(value)))) return builtIn(location);
  return isEmpty ? describeInstance(value) : undefined;
}

/** Returns the name of a built-in class, also for instances of its subclasses and of other realms. */
export function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function describeBlob(value: Blob, { fn, member }: ValueLocation): Unsendable {
  const type = tagOf(value) === "Blob" ? "Blob" : "File";
  return {
    what: `a ${type}`,
    fix: `A file must be an argument of its own, for a parameter that is declared as ${type}: ${fn}(${member}: ${type}).`,
  };
}

function describeEvent({ fn }: ValueLocation): Unsendable {
  return {
    what: "an event",
    fix: `An event handler receives the event as its argument. Write a function that passes the values: () => ${fn}(…).`,
  };
}

function describeBytes(value: object, { member }: ValueLocation): Unsendable {
  const bytes = ArrayBuffer.isView(value) ? member : `new Uint8Array(${member})`;
  return {
    what: `${/^[AEIOU]/.test(tagOf(value)) ? "an" : "a"} ${tagOf(value)}`,
    fix: `Use an array, Array.from(${bytes}), or pass new Blob([${member}]) to a parameter that is declared as Blob.`,
  };
}

/** Describes an instance without fields: it has its content in private fields or getters, which are not sent. */
function describeInstance(value: object): Unsendable | undefined {
  if (!hasInheritedMembers(value)) return undefined;
  const name = typeof value.constructor === "function" && value.constructor.name;
  return {
    what: `an instance of ${name || "a class"}`,
    fix: "It has no fields that could be sent. Pass a plain object, or give the class a method toJSON().",
  };
}

/** Returns whether the class of an object, or a superclass, has methods or getters. */
export function hasInheritedMembers(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  // The last prototype of a chain is the Object.prototype of this realm or of another one.
  if (!prototype || !Object.getPrototypeOf(prototype)) return false;
  return Reflect.ownKeys(prototype).some((key) => key !== "constructor") || hasInheritedMembers(prototype);
}

/** Returns whether a value is an event of any window. */
export function isEvent(value: unknown): boolean {
  const { preventDefault, isTrusted } = (value ?? {}) as Partial<Event>; // any value can be read like this
  return typeof preventDefault === "function" && typeof isTrusted === "boolean";
}

function isDomNode(value: object): boolean {
  const { nodeType, cloneNode } = value as Partial<Node>; // only their types are read
  return typeof nodeType === "number" && typeof cloneNode === "function";
}

/** Returns whether an object is a JSX element. Parsed JSON cannot imitate one. */
function isMarkup(value: object): boolean {
  const isElement = "type" in value && "props" in value && Object.hasOwn(value, "constructor");
  return isElement && (value.constructor === undefined || typeof value.constructor === "symbol"); // on the server
}
