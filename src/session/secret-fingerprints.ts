import { secretFingerprint } from "./keys.ts";

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
