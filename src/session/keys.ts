import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { Config } from "../config/index.ts";

/** What a key is for. Each has its own, so that no token passes for one of another kind. */
export type Purpose = "session" | "feed" | "csrf";

/** The keys of one purpose. */
export interface PurposeKeys {
  /** Signs what is issued now. */
  readonly sign: KeyObject;
  /** Verify what is presented: the one that signs, then those it replaced, newest first. */
  readonly verify: readonly KeyObject[];
}

const KEY_BYTES = 32;

/**
 * Derives the key of a purpose from a root, by HKDF-SHA256. The purpose is the `info`, as the RFC
 * means it; no salt is needed, since the root is uniformly random already.
 *
 * @param root the secret that all keys come from, at least 16 bytes
 * @see RFC 5869, section 3.2
 */
export function deriveKey(root: Uint8Array | string, purpose: string): KeyObject {
  const bytes = hkdfSync("sha256", root, new Uint8Array(0), `tsweb/${purpose}/v1`, KEY_BYTES);
  return createSecretKey(new Uint8Array(bytes));
}

const cache = new WeakMap<Config, Map<Purpose, PurposeKeys>>();

/**
 * Gives the keys of a purpose; made on first use, once for a configuration.
 *
 * Those of `csrf` come from `WEB_CSRF_SECRET` and have no predecessors: a stale token is mended by
 * the browser's one retry.
 *
 * @throws Error for `csrf` when `WEB_CSRF_SECRET` is not set: ask before
 */
export function keysFor(config: Config, purpose: Purpose): PurposeKeys {
  const made = cache.get(config) ?? new Map<Purpose, PurposeKeys>();
  const known = made.get(purpose);
  if (known) return known;
  const keys = makeKeys(config, purpose);
  cache.set(config, made.set(purpose, keys));
  return keys;
}

function makeKeys(config: Config, purpose: Purpose): PurposeKeys {
  const [root, ...previous] = rootsOf(config, purpose);
  if (!root) throw new Error("There is no CSRF key: WEB_CSRF_SECRET is not set.");
  const sign = deriveKey(root, purpose);
  return { sign, verify: [sign, ...previous.map((old) => deriveKey(old, purpose))] };
}

function rootsOf(config: Config, purpose: Purpose): readonly Uint8Array[] {
  if (purpose === "csrf") return config.csrfSecret ? [config.csrfSecret] : [];
  return [config.secret, ...config.previousSecrets];
}
