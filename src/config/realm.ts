/**
 * The realm of an application: a part of every key that it derives. Applications with one secret and different realms do not
 * accept what the others have signed.
 *
 * @see docs/security.md "Realms"
 */
import { resolve } from "node:path";
import { builtName } from "./build-info.ts";
import { ConfigError, InvalidVariableError, quoteValue } from "./config-error.ts";
import { projectName } from "./project.ts";
import type { Environment } from "./variables.ts";

/** The realm of an application without a name. */
export const UNNAMED_REALM = "tsweb";

/** The maximum length of a realm, which is that of the names of packages. */
const MAX_LENGTH = 214;

/** Returns a realm if its characters are those that names of packages have. */
export function parseRealm(text: string): string {
  if (/^[\w@./~-]+$/.test(text) && text.length <= MAX_LENGTH) return text;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a realm.`,
    `Set it to a name like "shop" or "@acme/shop": 1 to ${MAX_LENGTH} letters, digits and the characters @ . / ~ - _`,
  );
}

/** Returns the realm of an application that sets none: the `name` in its package.json, which a build contains. */
export function defaultRealm(folder: string): string {
  const name = builtName ?? projectName(resolve(folder));
  return name ? name.slice(0, MAX_LENGTH) : UNNAMED_REALM;
}

/**
 * Returns the realm of this process, for code outside of requests: `WEB_REALM`, or that of the current folder.
 *
 * @throws ConfigError for an invalid `WEB_REALM`
 */
export function processRealm(env: Environment = process.env): string {
  const { WEB_REALM } = env;
  if (!WEB_REALM) return defaultRealm(process.cwd());
  try {
    return parseRealm(WEB_REALM);
  } catch (error) {
    if (!(error instanceof InvalidVariableError)) throw error;
    throw new ConfigError([{ variable: "WEB_REALM", problem: error.problem, fix: error.fix }]);
  }
}
