import { isSecretName } from "../rpc/index.ts";

/** What is shown in place of a secret. */
export const REDACTED = "[redacted]";

/** The words of which each makes a name that of a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...["auth", "authorization", "bearer", "jwt", "jws", "jwe", "sid", "csrf", "xsrf", "cookie", "cookies", "oauth"],
  ...["pin", "pins", "otp", "totp", "hotp", "otc", "tan", "puk", "mfa", "pass", "pw", "passkey", "passkeys", "creds"],
  ...[
    "magic",
    "nonce",
    "salt",
    "sig",
    "signature",
    "hmac",
    "assertion",
    "saml",
    "verifier",
    "challenge",
    "attestation",
  ],
  ...["mnemonic", "seed", "cvc", "cvv", "iban", "ssn", "dsn", "authenticator"],
]);

/** A session is that of a user, and its value is its id, unless one of these follows it: `sessionTitle`. */
const SESSION_IDS: ReadonlySet<string> = new Set(["", "id", "ids", "key", "data", "value", "state"]);

/** The word `code` is that of a secret (a one-time code, an invitation), unless one of these precedes it. */
const PLAIN_CODES: ReadonlySet<string> = new Set([
  ...["post", "postal", "zip", "country", "area", "region", "state", "city", "language", "lang", "locale", "currency"],
  ...["error", "status", "exit", "response", "http", "reason", "result", "source", "key", "char", "color", "colour"],
  ...["product", "item", "article", "sku", "bar", "hs", "tax", "airport", "dial", "dialing", "phone", "calling"],
]);

/** A key is that of a cipher or a service if one of these precedes it. Others, such as a sort key, are not secret. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  ...["api", "private", "secret", "access", "encryption", "signing", "license", "licence", "recovery", "master"],
  ...["session", "auth", "service", "ssh", "gpg", "pgp", "aes", "rsa", "cipher", "decryption", "shared", "webhook"],
]);

/** A number is that of an account, with which money can be taken, if one of these precedes it. */
const SECRET_NUMBERS: ReadonlySet<string> = new Set(["card", "account", "routing", "passport", "security"]);

/** If one of these words precedes `link`, anybody who has the link can sign in with it. */
const SECRET_LINKS: ReadonlySet<string> = new Set(["magic", "login", "reset", "invite", "invitation", "verification"]);

/**
 * Returns whether a value with this name is a secret: a password, a token, a one-time code. When unsure, it returns `true`.
 *
 * @param name the name of a parameter, a property or a form field, in any notation
 */
export function isSecret(name: string): boolean {
  if (isSecretName(name)) return true;
  const words = wordsOf(name);
  return words.some((word, index) => {
    const [before = "", after = ""] = [words[index - 1], words[index + 1]];
    if (SECRET_WORDS.has(word)) return true;
    switch (word) {
      case "code":
      case "codes":
        return !PLAIN_CODES.has(before);
      case "session":
        return SESSION_IDS.has(after);
      case "key":
      case "keys":
        return SECRET_KEYS.has(before);
      case "number":
        return SECRET_NUMBERS.has(before);
      case "link":
      case "url":
        return SECRET_LINKS.has(before);
      default:
        return false;
    }
  });
}

/** The members of an object that name another one, as in `{ name: "password", value: "…" }`. */
const NAMING_MEMBER = /^(?:name|key|id|field|header|label|param|parameter|property|path|type)$/i;

/** The members that such an object names. */
const NAMED_MEMBER = /^(?:value|values|val|v|content|text|data|default|defaultValue|newValue|oldValue|before|after)$/i;

/** Returns the names of the members of an object that are secret: by their own name, or because another member names them. */
export function secretMembers(entries: readonly (readonly [unknown, unknown])[]): ReadonlySet<string> {
  const isNamed = entries.some(
    ([key, value]) => NAMING_MEMBER.test(String(key)) && typeof value === "string" && isSecret(value),
  );
  const names = entries.map(([key]) => String(key));
  return new Set(names.filter((name) => isSecret(name) || (isNamed && NAMED_MEMBER.test(name))));
}

/** Returns whether a list is a name and its value, as `Object.entries` returns them, and the value is a secret. */
export function isSecretPair(list: readonly unknown[]): boolean {
  return list.length === 2 && typeof list[0] === "string" && isSecret(list[0]);
}

/** Splits `newAccessCode`, `new_access_code` and `new-access-code` into `new`, `access` and `code`. */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return spaced.toLowerCase().split(/[^\p{L}]+/u);
}

/** Matches texts that are secrets whatever their name is: a JSON Web Token, and the value of `Authorization`. */
const SECRET_TEXT = /\beyJ[\w-]{8,}(?:\.[\w-]+){0,4}|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/g;

/** Matches the parameters of a URL in a text. */
const QUERY_PARAMETER = /([?&])([\w.%[\]-]{1,80})=([^&\s"'<>]+)/g;

/** Matches the members of an object in a JSON text, also in one that was cut off. */
const JSON_MEMBER = /"([\w$.-]{1,80})"(\s{0,4}:\s{0,4})("(?:[^"\\]|\\.)*(?:"|$)|[\w.+-]+)/g;

/** Returns a text with the secrets in it replaced that can be recognised: by their form, or by a name in a URL or in JSON. */
export function redactText(text: string): string {
  return text
    .replace(SECRET_TEXT, REDACTED)
    .replace(QUERY_PARAMETER, (parameter, separator: string, name: string) =>
      isSecretParameter(name) ? `${separator}${name}=${REDACTED}` : parameter,
    )
    .replace(JSON_MEMBER, (member, name: string, colon: string) =>
      isSecret(name) ? `"${name}"${colon}"${REDACTED}"` : member,
    );
}

/** Returns a query (`?a=1&token=x`) without the values of secrets. */
export function redactQuery(search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]*)/g, (parameter, separator: string, name: string) =>
    isSecretParameter(name) ? `${separator}${name}=${REDACTED}` : redactText(parameter),
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

function isSecretParameter(name: string): boolean {
  return isSecret(decode(name.replaceAll("+", " ")));
}

/** Broken percent-encoding is shown as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The secrets of a request, which an error message may repeat: "Wrong password hunter2". */

/** Shorter texts occur in other words. The number of a card's check is as short as this. */
const MIN_CHARS = 3;

const MAX_DEPTH = 12;
const MAX_VALUES = 2_000;

/**
 * Returns the texts and numbers in a value that are named like secrets, at any depth. It never throws: a getter of the value
 * may.
 *
 * @param name the name of the value; if it is that of a secret, all texts in it are
 */
export function secretValues(value: unknown, name = ""): string[] {
  const search = new Search();
  try {
    search.visit(value, isSecret(name), 0);
  } catch {
    // The preview of the value shows that it cannot be read.
  }
  return [...search.found];
}

class Search {
  readonly found = new Set<string>();
  #visited = 0;

  visit(value: unknown, isHidden: boolean, depth: number): void {
    this.#visited++;
    if (this.#visited > MAX_VALUES || depth > MAX_DEPTH) return;
    if (typeof value === "object" && value !== null) {
      this.#visitMembers(value, isHidden, depth + 1);
    } else if (isHidden && ["string", "number", "bigint"].includes(typeof value)) {
      const text = String(value).trim();
      if (text.length >= MIN_CHARS) this.found.add(text);
    }
  }

  #visitMembers(value: object, isHidden: boolean, depth: number): void {
    if (Array.isArray(value) || value instanceof Set) {
      const items = [...value];
      for (const item of items) this.visit(item, isHidden || isSecretPair(items), depth);
      return;
    }
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    const secret = secretMembers(entries);
    for (const [key, member] of entries) this.visit(member, isHidden || secret.has(String(key)), depth);
  }
}

/** Returns the secrets in a URL: the values of its query, and the segments of its path that are not shown. */
export function secretsOfUrl({ pathname, searchParams }: URL, shownPath: string): string[] {
  const segments = pathname.split("/");
  const shown = new Set((shownPath.split("?")[0] ?? "").split("/"));
  const hidden = shown.has(REDACTED) ? segments.filter((segment) => !shown.has(segment)) : [];
  const values = [...searchParams].filter(([name]) => isSecret(name)).map(([, value]) => value);
  return [...values, ...hidden.flatMap((segment) => [segment, decode(segment)])].filter(
    (text) => text.length >= MIN_CHARS,
  );
}

/** Returns a text without the secrets, also as they are written in JSON and in a URL. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encode(secret)]);
  // The longest first: one secret may contain another.
  const all = [...new Set(forms)].sort((one, other) => other.length - one.length);
  let shown = text;
  for (const secret of all) shown = shown.replaceAll(secret, REDACTED);
  return shown;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
