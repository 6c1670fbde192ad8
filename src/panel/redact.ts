import { isSecretName } from "../rpc/index.ts";

/** What is shown in place of a secret. */
export const REDACTED = "[redacted]";

/** The words of which each makes a name that of a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...["auth", "authorization", "bearer", "jwt", "sid", "csrf", "xsrf", "cookie", "cookies"],
  ...["pin", "otp", "totp", "mfa", "cvc", "cvv", "iban", "ssn", "passkey", "mnemonic", "seed", "signature", "hmac"],
]);

/** The word `code` is that of a secret (a one-time code, an invitation), unless one of these precedes it. */
const PLAIN_CODES: ReadonlySet<string> = new Set([
  ...["post", "postal", "zip", "country", "area", "region", "state", "city", "language", "lang", "locale", "currency"],
  ...["error", "status", "exit", "response", "http", "reason", "result", "source", "key", "char", "color", "colour"],
  ...["product", "item", "article", "sku", "bar", "hs", "tax", "airport", "dial", "dialing", "phone", "calling"],
]);

/** A key is that of a cipher or a service if one of these precedes it. Others, such as a sort key, are not secret. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  ...["api", "private", "secret", "access", "encryption", "signing", "license", "licence", "recovery", "master"],
]);

/**
 * Returns whether a value with this name is a secret: a password, a token, a one-time code. When unsure, it returns `true`.
 *
 * @param name the name of a parameter, a property or a form field, in any notation
 */
export function isSecret(name: string): boolean {
  if (isSecretName(name)) return true;
  const words = wordsOf(name);
  return words.some((word, index) => {
    const before = words[index - 1] ?? "";
    if (SECRET_WORDS.has(word)) return true;
    if (word === "code" || word === "codes") return !PLAIN_CODES.has(before);
    return (word === "key" || word === "keys") && SECRET_KEYS.has(before);
  });
}

/** Splits `newAccessCode`, `new_access_code` and `new-access-code` into `new`, `access` and `code`. */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return spaced.toLowerCase().split(/[^\p{L}]+/u);
}

/** Matches texts that are secrets whatever their name is: a JSON Web Token, and the value of `Authorization`. */
const SECRET_TEXT = /\beyJ[\w-]{8,}(?:\.[\w-]+){0,4}|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/g;

/** Returns a text with the secrets in it replaced that can be recognised without a name. */
export function redactText(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED);
}

/** Returns a query (`?a=1&token=x`) without the values of secrets. */
export function redactQuery(search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]*)/g, (parameter, separator: string, name: string) =>
    isSecret(decode(name)) ? `${separator}${name}=${REDACTED}` : redactText(parameter),
  );
}

/** Returns a path without the values of secrets, by the path as it is declared: `/reset/:token`. */
export function redactPath(path: string, pattern: string): string {
  const segments = path.split("/");
  for (const [index, declared] of pattern.split("/").entries()) {
    const [, name] = /^:(\w+)/.exec(declared) ?? /^\*\*:(\w+)/.exec(declared) ?? [];
    if (name === undefined || !isSecret(name) || segments[index] === undefined) continue;
    if (declared.startsWith("**")) return [...segments.slice(0, index), REDACTED].join("/");
    segments[index] = REDACTED;
  }
  return segments.map(redactText).join("/");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // a name that cannot be decoded is shown as it is
  }
}
