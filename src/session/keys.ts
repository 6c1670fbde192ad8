import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { type Config, processRealm } from "../config/index.ts";
import { currentContext } from "../http/index.ts";

/** The purpose of a key. Each has its own key, so that a token of one purpose is never valid for another. */
export type Purpose = "session" | "feed" | "presence" | "query" | "csrf";

/** The keys of one purpose. */
export interface PurposeKeys {
  /** Signs new tokens. */
  readonly sign: KeyObject;
  /** Verify received tokens: the key that signs, then the previous keys, newest first. */
  readonly verify: readonly KeyObject[];
}

const KEY_BYTES = 32;

/**
 * Returns the key of a purpose, derived from a secret by HKDF-SHA256 with the purpose and the realm as `info`. The salt is
 * empty: RFC 5869, section 3.1, requires none, and the secret is uniformly random.
 *
 * @param secret at least 16 bytes
 * @param purpose without a slash, so that no two pairs of purpose and realm have the same `info`
 * @param realm the realm of the application
 * @see RFC 5869, section 3.2; docs/protocol.md 7.7
 */
export function deriveKey(secret: Uint8Array | string, purpose: string, realm: string): KeyObject {
  const bytes = hkdfSync("sha256", secret, new Uint8Array(0), `tsweb/${purpose}/v2/${realm}`, KEY_BYTES);
  return createSecretKey(new Uint8Array(bytes));
}

/** Returns the realm of the application of the current request; outside a request, that of the process. */
export function currentRealm(): string {
  return currentContext()?.config.realm ?? processRealm();
}

/** The length of a fingerprint in bytes: two secrets never have the same one by chance. */
const FINGERPRINT_BYTES = 12;

/**
 * Returns a fingerprint of a secret, by which a bus recognizes the processes of one application: 16 characters. It is
 * the start of a key that is derived for this purpose only, without a realm: it identifies the secret. The secret and its
 * other keys cannot be computed from it.
 *
 * @see RFC 5869, section 3.2
 */
export function secretFingerprint(secret: Uint8Array): string {
  return deriveKey(secret, "bus fingerprint", "").export().subarray(0, FINGERPRINT_BYTES).toString("base64url");
}

// Keys are derived once for each configuration, and released together with it.
const cache = new WeakMap<Config, Map<Purpose, PurposeKeys>>();

/**
 * Returns the keys of a purpose. They are derived on first use.
 *
 * The key of `csrf` is derived from `WEB_CSRF_SECRET` and has no previous keys: after a change of the secret, the
 * browser repeats a refused call once with a new token.
 *
 * @throws Error for `csrf` if `WEB_CSRF_SECRET` is not set. Check `config.csrfSecret` before.
 * @see docs/protocol.md 7.7
 */
export function keysFor(config: Config, purpose: Purpose): PurposeKeys {
  const cached = cache.get(config) ?? new Map<Purpose, PurposeKeys>();
  const existing = cached.get(purpose);
  if (existing) return existing;
  const keys = deriveKeys(config, purpose);
  cache.set(config, cached.set(purpose, keys));
  return keys;
}

function deriveKeys(config: Config, purpose: Purpose): PurposeKeys {
  const [secret, ...previous] = secretsFor(config, purpose);
  if (!secret) throw new Error("There is no key for CSRF tokens, because WEB_CSRF_SECRET is not set.");
  const { realm } = config;
  const sign = deriveKey(secret, purpose, realm);
  return { sign, verify: [sign, ...previous.map((old) => deriveKey(old, purpose, realm))] };
}

function secretsFor(config: Config, purpose: Purpose): readonly Uint8Array[] {
  if (purpose === "csrf") return config.csrfSecret ? [config.csrfSecret] : [];
  return [config.secret, ...config.previousSecrets];
}

/** Precedes the fingerprint of a secret with which processes sign. Without it, a process may only verify with the secret. */
const SIGNS = "sign_";

/**
 * Returns what a bus stores of the secrets of a process: a fingerprint of each, and a second one of the secret with which
 * it signs.
 *
 * @param secrets the current secret, then the previous ones
 */
export function secretFingerprints(secrets: readonly Uint8Array[]): readonly string[] {
  const fingerprints = secrets.map(secretFingerprint);
  const [current] = fingerprints;
  return current === undefined ? [] : [...fingerprints, SIGNS + current];
}

/**
 * Returns what is missing in a change of `WEB_AUTH_SECRET` over several processes, in full sentences; nothing if
 * every process accepts what the others sign, or if none has stored anything. That the second phase is still to come cannot
 * be recognised: the first phase looks like a change in the other direction that is complete.
 *
 * @param secrets those of an environment that is about to be deployed: the current secret, then the previous ones
 * @param stored the fingerprints of all processes of the last 24.5 hours, see {@link secretFingerprints}
 * @see docs/production.md "Changing the secret"
 */
export function rotationWarnings(secrets: readonly Uint8Array[], stored: readonly string[]): readonly string[] {
  const [current = "", ...previous] = secrets.map(secretFingerprint);
  const accepted = new Set(stored.filter((text) => !text.startsWith(SIGNS)));
  const signing = new Set(stored.filter((text) => text.startsWith(SIGNS)).map((text) => text.slice(SIGNS.length)));
  if (signing.size === 0) return [];
  const unknown = [...signing].filter((fingerprint) => fingerprint !== current && !previous.includes(fingerprint));
  const notes: string[] = [];
  if (!accepted.has(current)) notes.push(FIRST_PHASE_MISSING);
  if (unknown.length > 0) notes.push(PREVIOUS_MISSING);
  return notes;
}

const FIRST_PHASE_MISSING =
  "WEB_AUTH_SECRET is unknown to every process of the last day. If several processes run, those that have not been " +
  "restarted refuse the sessions that it signs: first restart all of them with the new secret in " +
  "WEB_AUTH_SECRET_PREVIOUS. See docs/production.md, Changing the secret.";

const PREVIOUS_MISSING =
  "WEB_AUTH_SECRET_PREVIOUS lacks a secret with which processes have signed sessions in the last day: their users are " +
  "signed out. Add the secret that was replaced, unless this is intended.";
