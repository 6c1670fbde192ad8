import { createHash } from "node:crypto";
import { ValueError } from "../errors.ts";
import { constantTimeEqual } from "../session/index.ts";
import { readAuthenticatorData } from "./authenticator-data.ts";
import { requireBytes } from "./bytes.ts";
import { readClientData } from "./client-data.ts";
import { readSignature } from "./ecdsa-signature.ts";
import { isPoint, type Verifier, verifyP256 } from "./p256.ts";

/** A sign-in with a passkey, as a browser sent it, and what the server knows of it. */
export interface AssertionOptions {
  /** The stored key: 65 bytes, `04`, x, y. {@link cose_to_raw_point} makes them of a COSE key. */
  readonly credential_public_key: Uint8Array;
  /** `response.authenticatorData`. */
  readonly auth_data: Uint8Array;
  /** `response.clientDataJSON`, as it came: its bytes are signed. */
  readonly client_data_json: Uint8Array;
  /** `response.signature`: DER, as browsers send it. Raw ones (64 bytes) are refused. */
  readonly signature: Uint8Array;
  /** The relying party's id: the site's domain, as `example.com`. */
  readonly rp_id: string;
  /** The challenge that this visitor was given: its bytes, or their base64url. */
  readonly expected_challenge: Uint8Array | string;
  /** The site's origin, as `https://example.com`. */
  readonly expected_origin: string;
  /** The `sign_count` of the sign-in before; that of the registration, the first time. */
  readonly prior_sign_count: number;
  /** Whether the authenticator must have verified who is there: a PIN, a finger, a face. No, when left out. */
  readonly require_user_verification?: boolean;
}

/** What a sign-in with a passkey that is right says. */
export interface Assertion {
  /** To be stored, for the next one's `prior_sign_count`. */
  readonly sign_count: number;
  /** Whether the authenticator verified who is there. */
  readonly user_verified: boolean;
  /** Whether the key is kept elsewhere too, so that a lost device does not lose it. */
  readonly backed_up: boolean;
}

const MAX_COUNT = 0xffff_ffff;

/**
 * Verifies a sign-in with a passkey: an assertion of an ES256 (P-256) key, in the order of the
 * ceremony. What it gives is right in every point; for all else it throws.
 *
 * Three things are the application's: that the credential's id is the stored key's and belongs to
 * the user; that the challenge was made for this visitor, of 16 random bytes or more; and that it
 * is spent, whether this throws or not. A frame in another site's page is refused, since a
 * visitor there does not see where they sign in.
 *
 * @throws TypeError for a parameter of another type, or a server's own that cannot be one
 * @throws ValueError for an assertion that is not right; its message names the check
 * @see WebAuthn Level 3, section 7.2; the interface, "Passkeys (WebAuthn)"
 * @example
 * const { sign_count } = verify_webauthn_assertion({
 *   credential_public_key: passkey.point, auth_data, client_data_json, signature,
 *   rp_id: "example.com", expected_origin: "https://example.com",
 *   expected_challenge: challenge, prior_sign_count: passkey.sign_count,
 * });
 */
export function verify_webauthn_assertion(options: AssertionOptions): Assertion {
  return verifyAssertion(options, verifyP256);
}

/** Does the same with another verifier of signatures, so that two can be held against each other. */
export function verifyAssertion(options: AssertionOptions, isSigned: Verifier): Assertion {
  requireTypes(options);
  checkClientData(options);
  const { sign_count, user_verified, backed_up } = checkAuthenticatorData(options);
  checkSignature(options, isSigned);

  // A copy of the key that was used elsewhere has counted on. Two noughts: it does not count.
  const prior = options.prior_sign_count;
  if ((sign_count !== 0 || prior !== 0) && sign_count <= prior) {
    throw new ValueError("The passkey's counter did not rise: there may be a copy of it.");
  }
  return { sign_count, user_verified, backed_up };
}

/** Steps 8 to 15: what the browser says it did. */
function checkClientData({ client_data_json, expected_challenge, expected_origin }: AssertionOptions): void {
  const clientData = readClientData(client_data_json);
  if (clientData === null) throw new ValueError("The passkey's client data are not a JSON object.");

  // A registration is signed with the same key: it must not pass for a sign-in.
  if (clientData.type !== "webauthn.get") throw new ValueError("The passkey's client data are not of a sign-in.");

  // An answer that was recorded is to another challenge.
  if (!isChallenge(clientData.challenge, expected_challenge)) {
    throw new ValueError("The passkey answered another challenge.");
  }

  // A site that passes requests on is visited under its own address.
  if (clientData.origin !== expected_origin) throw new ValueError("The passkey was used on another origin.");

  // Absent or false; a page around it may have covered what the visitor agreed to.
  const { crossOrigin = false, topOrigin } = clientData;
  if (crossOrigin !== false || topOrigin !== undefined) {
    throw new ValueError("The passkey was used in a frame of another origin.");
  }
}

/** Steps 16 to 19: what the authenticator says it did. */
function checkAuthenticatorData({ auth_data, rp_id, require_user_verification = false }: AssertionOptions): Assertion {
  const data = readAuthenticatorData(auth_data);
  if (data === null) throw new ValueError("The passkey's authenticator data are malformed.");

  // The authenticator's own word for whose key it used.
  if (!constantTimeEqual(data.rpIdHash, sha256(rp_id)))
    throw new ValueError("The passkey is of another relying party.");

  // Else malware on the device could sign in alone.
  if (!data.userPresent) throw new ValueError("The passkey was used without its user's presence.");

  if (require_user_verification && !data.userVerified) {
    throw new ValueError("The passkey was used without its user's verification.");
  }

  // What cannot be backed up is not.
  if (data.backedUp && !data.backupEligible) {
    throw new ValueError("The passkey's backup flags contradict each other.");
  }
  return { sign_count: data.signCount, user_verified: data.userVerified, backed_up: data.backedUp };
}

/** Steps 20 and 21. */
function checkSignature(options: AssertionOptions, isSigned: Verifier): void {
  const { credential_public_key: point, auth_data, client_data_json } = options;
  if (!isPoint(point)) throw new ValueError("The passkey's public key is not a point of P-256.");

  const signature = readSignature(options.signature);
  if (signature === null) throw new ValueError("The passkey's signature is not one of P-256 in DER.");

  const message = Buffer.concat([auth_data, sha256(client_data_json)]);
  if (!isSigned({ point, message, signature })) throw new ValueError("The passkey's signature is wrong.");
}

/** Compared as browsers write it: base64url, in the one way there is. */
function isChallenge(given: unknown, expected: Uint8Array | string): boolean {
  const text = typeof expected === "string" ? expected : Buffer.from(expected).toString("base64url");
  return typeof given === "string" && constantTimeEqual(Buffer.from(given), Buffer.from(text));
}

/** Padding, white space, `+` and `/` are refused: no browser would send the same text back. */
function isBase64Url(text: string): boolean {
  return Buffer.from(text, "base64url").toString("base64url") === text;
}

function sha256(data: Uint8Array | string): Uint8Array {
  return createHash("sha256").update(data).digest();
}

function requireTypes(options: AssertionOptions): void {
  if (typeof options !== "object" || options === null) throw misuse("the options", "an object");
  for (const name of ["credential_public_key", "auth_data", "client_data_json", "signature"] as const) {
    requireBytes(options[name], `verify_webauthn_assertion: ${name}`);
  }
  for (const name of ["rp_id", "expected_origin"] as const) {
    if (typeof options[name] !== "string" || options[name] === "") throw misuse(name, "a string, and not empty");
  }
  const { expected_challenge: challenge, prior_sign_count: count, require_user_verification } = options;
  if (typeof challenge !== "string") requireBytes(challenge, "verify_webauthn_assertion: expected_challenge");
  // An empty one was never issued: whoever lost it must not have it match an answer to nothing.
  if (challenge.length === 0 || (typeof challenge === "string" && !isBase64Url(challenge)))
    throw misuse("expected_challenge", "bytes or base64url, and not empty");
  if (!Number.isInteger(count) || count < 0 || count > MAX_COUNT) {
    throw misuse("prior_sign_count", `a whole number from 0 to ${MAX_COUNT}`);
  }
  if (require_user_verification !== undefined && typeof require_user_verification !== "boolean") {
    throw misuse("require_user_verification", "true or false");
  }
}

function misuse(what: string, must: string): TypeError {
  return new TypeError(`verify_webauthn_assertion: ${what} must be ${must}.`);
}
