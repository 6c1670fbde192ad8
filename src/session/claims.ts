/** What a claim may be: what JSON can hold, and comes back as it was given. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * The claims of your sessions. Empty here; say once what yours are, and `session.login` asks for
 * them, `session.user()` has them and `session.require` knows the roles:
 *
 * @example
 * // src/session.d.ts
 * import "tsweb"; // without it this would take the place of all that tsweb exports
 *
 * declare module "tsweb" {
 *   interface Claims {
 *     name: string;
 *     roles: ("admin" | "editor")[];
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is for applications to fill
export interface Claims {}

/** Names that the session itself writes; a claim cannot have them. */
interface Reserved {
  readonly sub?: never;
  readonly sid?: never;
  readonly iat?: never;
  readonly exp?: never;
}

/** Any claims at all: what holds until an application says what its own are. */
type AnyClaims = { readonly [claim: string]: Json | undefined };

/** The claims that this application has said it has. */
export type OurClaims = keyof Claims extends never ? AnyClaims : Claims;

type Frozen<T> = T extends readonly unknown[] | object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** What comes after the user id in `session.login`: may be left out where no claim is required. */
export type LoginClaims = keyof Claims extends never
  ? [claims?: AnyClaims]
  : Record<never, never> extends Claims
    ? [claims?: Claims & Reserved]
    : [claims: Claims & Reserved];

/** The signed-in user: `sub`, the id given at login, and the claims given with it. Frozen. */
export type User<T = OurClaims> = { readonly sub: string } & ([AnyClaims] extends [T] ? T : Frozen<T>);

/** A role: any string, or those that {@link Claims} names. */
export type Role = Claims extends { readonly roles?: readonly (infer R extends string)[] } ? R : string;

const RESERVED = new Set(["sub", "sid", "iat", "exp"]);

/** Deeper than anything a cookie has room for that makes sense; a cycle ends here. */
const MAX_DEPTH = 32;

/**
 * Checks the claims given at login. What cannot come back as it was given is refused rather than
 * quietly changed: a `Date`, `NaN`, a `Map`, a class. A field that is `undefined` is left out.
 *
 * `__proto__` is refused at any depth: code that later copies claims by assignment would give an
 * object the prototype of a visitor's choosing.
 *
 * @throws TypeError that names the claim and what is wrong with it
 */
export function checkClaims(claims: unknown): asserts claims is Readonly<Record<string, Json | undefined>> {
  if (!isPlainObject(claims)) {
    throw new TypeError("session.login: the claims must be a plain object, as in { name: user.name }.");
  }
  for (const name of Object.keys(claims)) {
    if (RESERVED.has(name)) {
      throw new TypeError(`session.login: a claim cannot be named "${name}"; the session writes that itself.`);
    }
  }
  checkValue(claims, "claims", 0);
}

function checkValue(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) refuse(path, "is nested too deeply, or holds itself");
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) refuse(path, `is ${value}, which JSON cannot hold`);
      return;
    case "object":
      break;
    default:
      refuse(path, `is a value of type ${typeof value}, which JSON cannot hold`);
  }
  if (value === null) return;
  if (Array.isArray(value)) {
    // By index: a hole in the array is then undefined, and refused.
    for (let i = 0; i < value.length; i++) checkValue(value[i], `${path}[${i}]`, depth + 1);
    return;
  }
  if (!isPlainObject(value)) refuse(path, "is an instance of a class; give what it is made of");
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") refuse(path, 'has a field "__proto__"');
    if (item !== undefined) checkValue(item, `${path}.${key}`, depth + 1);
  }
}

function refuse(path: string, why: string): never {
  throw new TypeError(
    `session.login: ${path} ${why}. Claims are strings, numbers, booleans, null, arrays and objects.`,
  );
}

/** Answers whether a value is an object as `{…}` makes it, and not one with a say in how it is written. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== "function"; // any object may be asked for a field
}
