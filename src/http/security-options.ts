import { CSRF_HEADER, REDIRECT_HEADER, REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "../protocol/index.ts";
import type { SecurityOptions } from "./security-headers.ts";

/** The headers that no option may set: those that frame a response, and those that tsweb sets for each response. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "set-cookie",
  "trailer",
  "transfer-encoding",
  TRACEPARENT_HEADER,
  "upgrade",
  CSRF_HEADER,
  REDIRECT_HEADER,
  REQUEST_ID_HEADER,
]);

/**
 * Checks the options `policy` and `headers` of an application or a page. It refuses what could add another directive
 * or another header (header injection).
 *
 * @param location the call that has the options, for the message: `new App`
 * @throws Error that names the option, its value, and the expected form
 */
export function checkSecurityOptions({ policy = {}, headers = {} }: SecurityOptions, location: string): void {
  for (const [name, value] of Object.entries(policy)) checkDirective(name, value, location);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value, location);
}

function checkDirective(name: string, value: unknown, owner: string): void {
  // ";" would start another directive, and "," another policy.
  const isValid = value === null || (matches(value, /^[\x20-\x7e]*$/) && !/[;,]/.test(value));
  if (isValid && /^[a-z][a-z-]*$/.test(name)) return;
  throw new Error(
    `${owner}: ${JSON.stringify(name)} of the policy is ${JSON.stringify(value)}. Set the name of a directive to its ` +
      `sources without ";" and ",", for example "img-src": "'self' https://images.example", or to null to remove it.`,
  );
}

/**
 * Checks one header: its name, and its value, which is `null` to remove it.
 *
 * @param owner the call that sets it, for the message: `new App`
 * @throws Error for a reserved name, and for an invalid name or value
 */
export function checkHeader(name: string, value: unknown, owner: string): void {
  const isValid = /^[A-Za-z0-9-]+$/.test(name) && (value === null || matches(value, /^[\x20-\x7e\t]+$/));
  if (!isValid) {
    throw new Error(
      `${owner}: the header ${JSON.stringify(name)} is ${JSON.stringify(value)}. Set the name of a header to one ` +
        "line of ASCII text, or to null to remove it.",
    );
  }
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    throw new Error(`${owner}: the header ${name} cannot be set here. tsweb sets it for each response. Remove it.`);
  }
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}
