/** Finds secrets in the props of views, which are sent to browsers. In development only. */
import { describeLocation, MarkupError, type RenderState } from "./render-state.ts";

/** The maximum number of values that are searched. */
const MAX_VALUES = 10_000;

/** The minimum length of the value of a variable. A shorter text can be equal by chance. */
const MIN_CHARS = 8;

const SECRET_NAME =
  /(?:SECRET|SECRET_KEY|SECRET_ACCESS_KEY|SECRET_KEY_BASE|PRIVATE_KEY|PASSWORD|PASSWD|PASSPHRASE)(?:_(?:OLD|NEW|PREVIOUS|\d+))?$/i;

const KEY_NAME = /(?:KEY|TOKEN)$/i;

/** Names of keys that services issue for browsers, and that of another value. */
const PUBLIC_NAME =
  /PUBLIC|PUBLISH|ANON|SITE|SEARCH|CLIENT|BROWSER|FRONTEND|VITE|MAP|FIREBASE|POSTHOG|ANALYTICS|ALGOLIA|SENTRY|WRITE/i;

/** The forms of password hashes: those of bcrypt, Argon2, scrypt and PBKDF2, and of tsweb. */
const PASSWORD_HASH =
  /^(?:\$(?:2[abxy]?|argon2(?:id|i|d)|s?crypt|pbkdf2[\w-]*|[56y]|s0)\$|pbkdf2_sha\d+\$\d+\$).{20,}$/;

/**
 * Reports the secrets among the props of a view. Certain is a text that is equal to a variable of the environment whose name
 * is that of a secret or whose value is a URL with a password, and a password hash in a member with a name such as
 * `password_hash`. A key or token is only a warning, because some are made for browsers.
 *
 * No message contains the secret itself. Errs towards silence: short values and plain words are not compared.
 *
 * @param props the props as they are sent
 * @throws MarkupError if a secret is certain
 */
export function checkSecretProps(
  view: string,
  props: unknown,
  { warn, location }: Pick<RenderState, "warn" | "location">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const variables = secretVariables(env);
  for (const { path, text } of textsIn(props)) {
    const variable = variables.get(text);
    if (variable?.isCertain) {
      throw new MarkupError(
        `The view ${view} receives ${variable.description} as the prop ${path}. Props are sent to browsers, where everybody ` +
          "can read them. Use it on the server, and pass only what the view shows.",
      );
    }
    if (variable) {
      warn?.(
        `The view ${view}${describeLocation(location)} receives ${variable.description} as the prop ${path}, which is sent to ` +
          `browsers. If it is a secret, use it on the server only. If browsers may have it, name it PUBLIC_${variable.name}.`,
      );
    }
    if (PASSWORD_HASH.test(text) && /pass|pwd|hash/i.test(path)) {
      throw new MarkupError(
        `The view ${view} receives a password hash as the prop ${path}. Props are sent to browsers, where everybody can read ` +
          "them. Pass only the fields that the view shows, for example `user={{ name: user.name }}`.",
      );
    }
  }
}

interface SecretVariable {
  readonly name: string;
  readonly description: string;
  readonly isCertain: boolean;
}

/** Returns the variables that look like secrets, by their values. */
function secretVariables(env: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, SecretVariable> {
  const found = new Map<string, SecretVariable>();
  for (const [name, value = ""] of Object.entries(env)) {
    if (value.length < MIN_CHARS || /^[a-z]+$/i.test(value)) continue;
    const isSecret = SECRET_NAME.test(name) && !/PUBLIC/i.test(name);
    const isUrl = hasPassword(value);
    if (!isSecret && !isUrl && !(KEY_NAME.test(name) && !PUBLIC_NAME.test(name))) continue;
    const what = isUrl && !isSecret ? "the URL with a password" : "the value";
    const isCertain = isSecret || isUrl;
    if (found.get(value)?.isCertain) continue;
    found.set(value, { name, description: `${what} of the environment variable ${name}`, isCertain });
  }
  return found;
}

function hasPassword(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#\s]*:[^/?#\s@]+@/i.test(text);
}

/** Returns the texts in JSON, with their paths, such as `users[0].name`. */
function textsIn(props: unknown): { readonly path: string; readonly text: string }[] {
  const texts: { path: string; text: string }[] = [];
  const pending: { path: string; value: unknown }[] = [{ path: "", value: props }];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = pending.pop();
    if (!next) break;
    const { path, value } = next;
    if (typeof value === "string") texts.push({ path, text: value });
    if (typeof value !== "object" || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      const own = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      pending.push({ path: own, value: member });
    }
  }
  return texts;
}
