/**
 * The objects of results that would arrive as `{}`. Used on the server only.
 *
 * @see docs/protocol.md 5.1
 */
import { hasInheritedMembers, tagOf } from "./sent-values.ts";

/** How to send the content of built-in classes, by their tag. */
const FIXES: Readonly<Record<string, string>> = {
  Response: "it is a Response. Return its data, or return the Response from a route().",
  Request: "it is a Request. Return the data of it that the caller needs.",
  Blob: "it is a Blob. Return it from a route(), as a Response or with send_file().",
  File: "it is a File. Return it from a route(), as a Response or with send_file().",
  FormData: "it is a FormData. Return an object: Object.fromEntries(form).",
  URLSearchParams: "it is a URLSearchParams. Return an object, Object.fromEntries(params), or String(params).",
  Headers: "it is a Headers object. Return an object: Object.fromEntries(headers).",
  RegExp: "it is a regular expression. Return its text: pattern.source.",
};

/**
 * Returns why an object would arrive as `{}`, and what to return in its place; `undefined` for any other. An `Error` is
 * sent as `{}` on purpose: its message is not for the caller.
 */
export function describeLostResult(value: object): string | undefined {
  if (Object.keys(value).length > 0 || value instanceof Error || !hasInheritedMembers(value)) return undefined;
  const fix = FIXES[tagOf(value)];
  if (fix) return fix;
  const name = typeof value.constructor === "function" && value.constructor.name;
  return (
    `it is an instance of ${name || "a class"} that has no fields: private fields and getters are not sent. ` +
    "Return a plain object, or give the class a method to_dict()."
  );
}
