import { createHash } from "node:crypto";
import { ValueError } from "../errors.ts";
import { parseJson } from "../http/index.ts";
import { constantTimeEqual } from "../session/index.ts";
import { decodeCborMap, isCurvePoint, parseSignature, type SignatureVerifier, verifyP256 } from "./p256.ts";
import { requireBytes } from "./require-bytes.ts";

/** The response of a browser to a sign-in with a passkey, and the values that the server expects in it. */
export interface AssertionOptions {
  /** The stored public key: 65 bytes, `0x04`, x, y. {@link cose_to_raw_point} converts a COSE key. */
  readonly credential_public_key: Uint8Array;
  /** `response.authenticatorData`. */
  readonly auth_data: Uint8Array;
  /** `response.clientDataJSON`, unchanged: its bytes are signed. */
  readonly client_data_json: Uint8Array;
  /** `response.signature`: in DER, as browsers send it, or the 64 bytes r and s. */
  readonly signature: Uint8Array;
  /** The relying party's id: the domain of the site, such as `example.com`. */
  readonly rp_id: string;
  /** The challenge that was issued to this client, as bytes or base64url, with or without padding. */
  readonly expected_challenge: Uint8Array | string;
  /** The origin of the site, such as `https://example.com`. */
  readonly expected_origin: string;
  /** The `sign_count` of the previous sign-in; for the first sign-in, that of the registration. */
  readonly prior_sign_count: number;
  /** Whether the authenticator must verify the user, by a PIN, a fingerprint or a face. Default: `false`. */
  readonly require_user_verification?: boolean;
}

/** The result of a valid sign-in with a passkey. */
export interface Assertion {
  /** Store it as the `prior_sign_count` of the next sign-in. */
  readonly sign_count: number;
  /** Whether the authenticator verified the user. */
  readonly user_verified: boolean;
  /** Whether the key is also stored on other devices, so that it survives the loss of one. */
  readonly backed_up: boolean;
}

const MAX_SIGN_COUNT = 0xffff_ffff;

/**
 * Verifies a sign-in with a passkey: an assertion of an ES256 (P-256) key. Returns its sign count and flags if all
 * checks pass, and throws otherwise. The checks follow the order of the specification.
 *
 * The application must ensure three things:
 *
 * - the credential id is that of the stored key, and the key belongs to the user;
 * - the challenge has at least 16 random bytes and was issued to this client;
 * - the challenge is not accepted again, even if this function throws.
 *
 * A sign-in inside a frame of another site is refused, since the user cannot see where they sign in (clickjacking).
 *
 * @throws TypeError if an option has the wrong type
 * @throws ValueError if the assertion is not valid; the message names the check that failed
 * @see WebAuthn Level 3, section 7.2; docs/protocol.md 14.4
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

/** Verifies an assertion with `verifySignature`. Tests compare two independent verifiers of signatures. */
export function verifyAssertion(options: AssertionOptions, verifySignature: SignatureVerifier): Assertion {
  requireTypes(options);
  checkClientData(options);
  const assertion = checkAuthenticatorData(options);
  checkSignature(options, verifySignature);
  checkSignCount(assertion.sign_count, options.prior_sign_count);
  return assertion;
}

/** Steps 8 to 15: checks the browser's description of the ceremony. */
function checkClientData({ client_data_json, expected_challenge, expected_origin }: AssertionOptions): void {
  const clientData = parseClientData(client_data_json);
  if (clientData === null) throw new ValueError("The passkey's client data are not a JSON object.");

  // The same key signs registrations. A recorded registration must not pass as a sign-in.
  if (clientData.type !== "webauthn.get") throw new ValueError("The passkey's client data are not of a sign-in.");

  // A recorded sign-in contains an earlier challenge (replay attack).
  if (!isExpectedChallenge(clientData.challenge, expected_challenge)) {
    throw new ValueError("The passkey answered another challenge.");
  }

  // A phishing site that forwards requests has another origin.
  if (clientData.origin !== expected_origin) throw new ValueError("The passkey was used on another origin.");

  // Older browsers omit crossOrigin. In a frame, the surrounding page may have covered what the user agreed to.
  const { crossOrigin = false, topOrigin } = clientData;
  if (crossOrigin !== false || topOrigin !== undefined) {
    throw new ValueError("The passkey was used in a frame of another origin.");
  }
}

/** Steps 16 to 19: checks the authenticator's description of the sign-in. */
function checkAuthenticatorData({ auth_data, rp_id, require_user_verification = false }: AssertionOptions): Assertion {
  const data = parseAuthenticatorData(auth_data);
  if (data === null) throw new ValueError("The passkey's authenticator data are malformed.");

  // The authenticator states for which site it used a key, independently of the browser.
  if (!constantTimeEqual(data.rpIdHash, sha256(rp_id))) {
    throw new ValueError("The passkey is of another relying party.");
  }

  // Without the user's presence, malware on the device could sign in.
  if (!data.userPresent) throw new ValueError("The passkey was used without its user's presence.");

  if (require_user_verification && !data.userVerified) {
    throw new ValueError("The passkey was used without its user's verification.");
  }

  // A key that cannot be backed up cannot have been.
  if (data.backedUp && !data.backupEligible) {
    throw new ValueError("The passkey's backup flags contradict each other.");
  }
  return { sign_count: data.signCount, user_verified: data.userVerified, backed_up: data.backedUp };
}

/** Steps 20 and 21: checks the signature. */
function checkSignature(options: AssertionOptions, verifySignature: SignatureVerifier): void {
  const { credential_public_key: point, auth_data, client_data_json } = options;
  if (!isCurvePoint(point)) throw new ValueError("The passkey's public key is not a point of P-256.");

  const signatures = parseSignature(options.signature);
  if (signatures.length === 0) throw new ValueError("The passkey's signature is not a signature of P-256.");

  const message = Buffer.concat([auth_data, sha256(client_data_json)]);
  if (!signatures.some((signature) => verifySignature({ point, message, signature })))
    throw new ValueError("The passkey's signature is wrong.");
}

/** Step 22: checks the counter. A copy of the key that is used elsewhere would make it fall behind. */
function checkSignCount(count: number, prior: number): void {
  const isUncounted = count === 0 && prior === 0; // many authenticators do not count
  if (!isUncounted && count <= prior) {
    throw new ValueError("The passkey's counter did not rise: there may be a copy of it.");
  }
}

/** Returns whether the challenge is the expected one, in the exact base64url that browsers write. */
function isExpectedChallenge(challenge: unknown, expected: Uint8Array | string): boolean {
  const text = typeof expected === "string" ? withoutPadding(expected) : Buffer.from(expected).toString("base64url");
  return typeof challenge === "string" && constantTimeEqual(Buffer.from(challenge), Buffer.from(text));
}

/** Returns whether a text is canonical base64url, with or without padding. */
function isBase64Url(text: string): boolean {
  const digits = withoutPadding(text);
  const isPadded = digits.length < text.length;
  if (isPadded && (text.length % 4 !== 0 || text.length - digits.length > 2)) return false;
  return Buffer.from(digits, "base64url").toString("base64url") === digits;
}

/** Returns base64url as browsers write it. The expected challenge may come from another library, which pads. */
function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, "");
}

function sha256(data: Uint8Array | string): Uint8Array {
  return createHash("sha256").update(data).digest();
}

function requireTypes(options: AssertionOptions): void {
  if (typeof options !== "object" || options === null) throw optionError("the options", "an object");
  for (const name of ["credential_public_key", "auth_data", "client_data_json", "signature"] as const) {
    requireBytes(options[name], `verify_webauthn_assertion: ${name}`);
  }
  for (const name of ["rp_id", "expected_origin"] as const) {
    if (typeof options[name] !== "string" || options[name] === "") throw optionError(name, "a non-empty string");
  }
  const { expected_challenge: challenge, prior_sign_count: count, require_user_verification } = options;
  requireChallenge(challenge);
  if (!Number.isInteger(count) || count < 0 || count > MAX_SIGN_COUNT) {
    throw optionError("prior_sign_count", `a whole number from 0 to ${MAX_SIGN_COUNT}`);
  }
  if (require_user_verification !== undefined && typeof require_user_verification !== "boolean") {
    throw optionError("require_user_verification", "true or false");
  }
}

/** An empty challenge is refused: if the application has lost its challenge, no assertion may match. */
function requireChallenge(challenge: Uint8Array | string): void {
  if (typeof challenge !== "string") requireBytes(challenge, "verify_webauthn_assertion: expected_challenge");
  if (challenge.length === 0 || (typeof challenge === "string" && !isBase64Url(challenge))) {
    throw optionError("expected_challenge", "non-empty bytes or base64url");
  }
}

/** The value is never in the message: it may be a challenge. */
function optionError(option: string, expected: string): TypeError {
  return new TypeError(`verify_webauthn_assertion: ${option} must be ${expected}.`);
}

/** The authenticator's description of a sign-in. @see WebAuthn Level 3, section 6.1 */
interface AuthenticatorData {
  /** The SHA-256 of the relying party's id: 32 bytes. */
  readonly rpIdHash: Uint8Array;
  /** Flag UP: a user was present. */
  readonly userPresent: boolean;
  /** Flag UV: the authenticator verified the user, by a PIN, a fingerprint or a face. */
  readonly userVerified: boolean;
  /** Flag BE: the key may be copied to other devices. */
  readonly backupEligible: boolean;
  /** Flag BS: the key has been copied to other devices. */
  readonly backedUp: boolean;
  /** The number of uses of the key; 0 if the authenticator does not count. */
  readonly signCount: number;
}

const RP_ID_HASH_BYTES = 32;
const FLAGS_OFFSET = RP_ID_HASH_BYTES;
const SIGN_COUNT_OFFSET = FLAGS_OFFSET + 1;
const HEADER_BYTES = SIGN_COUNT_OFFSET + 4;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const ATTESTED_CREDENTIAL_DATA = 0x40;
const EXTENSION_DATA = 0x80;

/**
 * Returns the authenticator data of an assertion; `null` if it is malformed: too short, with a credential (which
 * only a registration has), or with more or fewer bytes after the header than the flags require.
 */
function parseAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.byteLength < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(FLAGS_OFFSET);
  const hasFlag = (flag: number) => (flags & flag) !== 0;
  const extensions = bytes.subarray(HEADER_BYTES);
  const isComplete = hasFlag(EXTENSION_DATA) ? decodeCborMap(extensions) !== null : extensions.byteLength === 0;
  if (hasFlag(ATTESTED_CREDENTIAL_DATA) || !isComplete) return null;
  return {
    rpIdHash: bytes.subarray(0, RP_ID_HASH_BYTES),
    userPresent: hasFlag(USER_PRESENT),
    userVerified: hasFlag(USER_VERIFIED),
    backupEligible: hasFlag(BACKUP_ELIGIBLE),
    backedUp: hasFlag(BACKED_UP),
    signCount: view.getUint32(SIGN_COUNT_OFFSET),
  };
}

/** The browser's description of the ceremony, not yet checked. @see WebAuthn Level 3, section 5.8.1 */
interface ClientData {
  readonly type: unknown;
  readonly challenge: unknown;
  readonly origin: unknown;
  readonly crossOrigin: unknown;
  readonly topOrigin: unknown;
}

/** The maximum size, in bytes. Browsers write about 200 bytes, and more for a long challenge. */
const MAX_BYTES = 65_536;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the client data of a ceremony, with unchecked members; `null` unless the bytes are a JSON object in UTF-8, of
 * at most 64 KiB.
 */
function parseClientData(bytes: Uint8Array): ClientData | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    const value: unknown = parseJson(utf8.decode(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value as Record<string, unknown>; // a JSON object
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null; // Invalid UTF-8 and invalid JSON are refused in the same way.
  }
}
