/** The type of a claim: a value that JSON represents without loss. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * The claims of an application's sessions. Declare them once, and `session.login` requires them, `session.user()`
 * returns them, and `session.require` accepts their roles only:
 *
 * @example
 * // src/session.d.ts
 * import "tsweb"; // without this import, the declaration would replace the exports of tsweb
 *
 * declare module "tsweb" {
 *   interface Claims {
 *     name: string;
 *     roles: ("admin" | "editor")[];
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add their claims to it
export interface Claims {}

/** The names that the session sets itself. A claim cannot have them. */
export interface ReservedClaims {
  readonly sub?: never;
  readonly sid?: never;
  readonly iat?: never;
  readonly exp?: never;
  readonly rev_pos?: never;
}

/** Any claims: the type of claims until an application declares its own. */
type AnyClaims = { readonly [claim: string]: Json | undefined };

/** The claims that the application has declared, or any claims. */
export type ApplicationClaims = keyof Claims extends never ? AnyClaims : Claims;

type DeepReadonly<T> = T extends readonly unknown[] | object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The parameters after the user id in `session.login`. The claims are optional if none is required. */
export type LoginClaims = keyof Claims extends never
  ? [claims?: AnyClaims]
  : Record<never, never> extends Claims
    ? [claims?: Claims & ReservedClaims]
    : [claims: Claims & ReservedClaims];

/** The signed-in user: `sub`, the user id of `session.login`, and its claims. Deeply frozen. */
export type User<T = ApplicationClaims> = { readonly sub: string } & ([AnyClaims] extends [T] ? T : DeepReadonly<T>);

/** A role: any string, or one of those that {@link Claims} declares. */
export type Role = Claims extends { readonly roles?: readonly (infer R extends string)[] } ? R : string;

const RESERVED_CLAIMS = new Set(["sub", "sid", "iat", "exp", "rev_pos"]);

/** The maximum depth of claims. It also ends the check of a cycle. @see docs/protocol.md 7.3 */
const MAX_DEPTH = 32;

/**
 * Checks the claims of `session.login`. A value that JSON would change is refused, such as a `Date`, `NaN`, a `Map` or an
 * instance of a class: `session.user()` must return the same in this request and in the next. A field that is
 * `undefined` is omitted.
 *
 * `__proto__` is refused at any depth. If later code copied the claims by assignment, a client could otherwise choose
 * the prototype of an object (prototype pollution).
 *
 * @param caller the function or option that the claims come from, for the message
 * @throws TypeError that names the claim and the problem, but never its value
 * @see docs/protocol.md 7.3
 */
export function checkClaims(
  claims: unknown,
  caller: string,
): asserts claims is Readonly<Record<string, Json | undefined>> {
  if (!isPlainObject(claims)) {
    throw new TypeError(`${caller}: the claims must be a plain object, for example { name: user.name }.`);
  }
  for (const name of Object.keys(claims)) {
    if (RESERVED_CLAIMS.has(name)) {
      throw new TypeError(
        `${caller}: a claim cannot be named "${name}", because the session sets that itself. Rename the claim.`,
      );
    }
  }
  checkValue(claims, { caller, path: "claims", depth: 0 });
}

/** Where a value is, for the message. */
interface ClaimPlace {
  readonly caller: string;
  readonly path: string;
  readonly depth: number;
}

/**
 * Checks a user id.
 *
 * @param caller the function or option that it comes from, for the message
 * @throws TypeError that describes what was received, if it is not a non-empty string
 */
export function checkUserId(sub: unknown, caller: string): asserts sub is string {
  if (typeof sub === "string" && sub !== "") return;
  throw new TypeError(`${caller}: the user id must be a non-empty string. ${describeUserId(sub, caller)}`);
}

/** Returns what was received in place of a user id, and how to fix it. */
function describeUserId(sub: unknown, caller: string): string {
  if (sub === "") return "Received: an empty string.";
  if (sub === undefined || sub === null) return `Received: ${sub}.`;
  if (sub instanceof Promise) return "Received: a promise. Await it.";
  if (Array.isArray(sub)) return "Received: an array. Pass the id of one user.";
  if (typeof sub === "object") {
    const fix = caller === "session.login" ? "session.login(String(user.id), claims)" : "{ sub: String(user.id) }";
    return `Received: an object. Pass its id: ${fix}.`;
  }
  return `Received: ${typeof sub}. ${typeof sub === "number" || typeof sub === "bigint" ? "Convert a number with String(id)." : ""}`.trim();
}

function checkValue(value: unknown, place: ClaimPlace): void {
  if (place.depth > MAX_DEPTH) throw invalidClaim(place, `is nested over ${MAX_DEPTH} levels deep, or contains itself`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) throw invalidClaim(place, `is ${value}, which JSON cannot represent`);
      return;
    case "object":
      if (value !== null) checkObject(value, place);
      return;
    default:
      throw invalidClaim(place, `is of type ${typeof value}, which JSON cannot represent`);
  }
}

function checkObject(value: object, place: ClaimPlace): void {
  const { caller, path } = place;
  const depth = place.depth + 1;
  if (Array.isArray(value)) {
    // By index: forEach would skip holes. A hole is read as undefined, and refused.
    for (let i = 0; i < value.length; i++) checkValue(value[i], { caller, path: `${path}[${i}]`, depth });
    return;
  }
  if (!isPlainObject(value)) throw invalidClaim(place, "is an instance of a class. Pass its fields instead");
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw invalidClaim(place, 'has a field "__proto__"');
    if (item !== undefined) checkValue(item, { caller, path: `${path}.${key}`, depth });
  }
}

function invalidClaim({ caller, path }: ClaimPlace, problem: string): TypeError {
  return new TypeError(
    `${caller}: ${path} ${problem}. Claims can be strings, numbers, booleans, null, arrays and plain objects.`,
  );
}

/** Returns whether a value is an object literal, without a class or a `toJSON` method that would change it. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== "function"; // reading a field of any object is safe
}

/**
 * Returns whether a user has all required roles.
 *
 * When unsure, it returns `false`: a claim that is not an array of strings has no roles. In particular, a string is not
 * searched, since `"superadmin".includes("admin")` is true.
 *
 * @param claim the claim `roles` of the session, of any type
 * @param required the names of the required roles; with none, every user passes
 * @see docs/protocol.md 7.6
 */
export function hasRoles(claim: unknown, required: readonly string[]): boolean {
  if (required.length === 0) return true;
  if (!isRoleList(claim)) return false;
  return required.every((role) => claim.includes(role));
}

/**
 * Returns why a user does not have all required roles, for the developer. It contains no value of the session.
 *
 * @param claim the claim `roles` of the session, of any type
 * @param required the names of the required roles
 */
export function missingRolesText(claim: unknown, required: readonly string[]): string {
  const login = `session.login(id, { roles: ${JSON.stringify(required)} })`;
  if (claim === undefined)
    return `The session has no claim "roles", which session.require reads. Sign in with ${login}.`;
  if (!isRoleList(claim)) return `The claim "roles" of the session is not an array of strings. Sign in with ${login}.`;
  const missing = required.filter((role) => !claim.includes(role)).map((role) => JSON.stringify(role));
  return `The claim "roles" of the session lacks ${missing.join(", ")}. It is the claim of the sign-in: ${login}.`;
}

/** Returns whether a claim is a list of roles: an array of strings. */
export function isRoleList(claim: unknown): claim is readonly string[] {
  return Array.isArray(claim) && claim.every((role) => typeof role === "string");
}
