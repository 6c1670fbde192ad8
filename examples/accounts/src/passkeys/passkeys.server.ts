/** Passkeys: the functions of the views and of a form. Bytes are passed as base64url, as browsers encode them. */
import { randomBytes } from "node:crypto";
import { type int, RPCError, redirect, server, session } from "tsweb";
import { verify_webauthn_assertion } from "tsweb/auth";
import { account } from "../pages.server.tsx";
import { signIn } from "../shared/sign-in-steps.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import { issueTicket, takeTicket } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import { readRegistration } from "./registration.ts";
import * as store from "./store.server.ts";

/** The COSE identifier of ES256, which every authenticator supports and tsweb verifies. */
const ES256 = -7;

/** Limits what one account can store. */
const MAX_PASSKEYS = 20;

const TIMEOUT_MS = 5 * 60_000;

/** The options for `navigator.credentials.create`, with bytes as base64url. */
interface RegistrationOptions {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  pubKeyCredParams: { type: "public-key"; alg: int }[];
  authenticatorSelection: { residentKey: "required"; userVerification: "required" };
  excludeCredentials: { type: "public-key"; id: string }[];
  attestation: "none";
  timeout: int;
}

/** Starts the registration of a passkey. Returns the options for `navigator.credentials.create`. */
export const passkey_registration_options = server({ auth_required: true }, async (): Promise<RegistrationOptions> => {
  const { sub, name } = session.require();
  const passkeys = await store.listPasskeys(sub);
  if (passkeys.length >= MAX_PASSKEYS) {
    throw new RPCError("conflict", `You have ${MAX_PASSKEYS} passkeys. Remove one first.`);
  }
  // All passkeys of an account have the same handle, so that a device replaces the one it has.
  const handle = passkeys[0]?.handle ?? randomBytes(32).toString("base64url");
  const challenge = randomBytes(32).toString("base64url");
  await issueTicket("passkey-add", JSON.stringify([challenge, sub, handle]));
  return {
    challenge,
    rp: { id: siteUrl().hostname, name: "Accounts" },
    user: { id: handle, name: sub, displayName: name },
    pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: passkeys.map(({ id }) => ({ type: "public-key", id })),
    attestation: "none",
    timeout: TIMEOUT_MS,
  };
});

/** Registers the passkey that the authenticator has created. */
export const add_passkey = server({ auth_required: true }, async (clientData: string, authData: string) => {
  const { sub } = session.require();
  const [challenge, email, handle] = parseTicket(await takeTicket("passkey-add"));
  if (!challenge || !handle || email !== sub) throw expiredError();
  const { origin, hostname: rpId } = siteUrl();
  const registration = readRegistration({
    clientData: decode(clientData),
    authData: decode(authData),
    challenge,
    origin,
    rpId,
  });
  if (!(await store.add({ ...registration, email, handle }))) {
    throw new RPCError("conflict", "This passkey is registered already.");
  }
});

/** Removes a passkey of the user. */
export const remove_passkey = server({ auth_required: true }, async (id: string) => {
  await store.remove(session.require().sub, id);
});

/** The options for `navigator.credentials.get`, with bytes as base64url. */
interface SignInOptions {
  challenge: string;
  rpId: string;
  userVerification: "required";
  timeout: int;
}

/** Starts a sign-in with a passkey. Returns the options for `navigator.credentials.get`. */
export const passkey_sign_in_options = server(async (): Promise<SignInOptions> => {
  const challenge = randomBytes(32).toString("base64url");
  await issueTicket("passkey-use", JSON.stringify([challenge]));
  return { challenge, rpId: siteUrl().hostname, userVerification: "required", timeout: TIMEOUT_MS };
});

/** The response of an authenticator, with the fields of the browser's `AuthenticationResponseJSON`. */
interface Assertion {
  id: string;
  clientData: string;
  authData: string;
  signature: string;
  userHandle: string;
}

/**
 * Signs in with a passkey. No one-time code is required, since a passkey has two factors already: the device, and a
 * fingerprint, a face or a PIN.
 */
export const sign_in_with_passkey = server(async ({ id, clientData, authData, signature, userHandle }: Assertion) => {
  const [challenge] = parseTicket(await takeTicket("passkey-use"));
  if (!challenge) throw expiredError();
  const passkey = await store.find(id);
  const user = passkey?.handle === userHandle ? await users.find(passkey.email) : undefined;
  if (!passkey || !user) throw unknownPasskeyError();

  const { sign_count, backed_up } = verify_webauthn_assertion({
    credential_public_key: passkey.point,
    auth_data: decode(authData),
    client_data_json: decode(clientData),
    signature: decode(signature),
    rp_id: siteUrl().hostname,
    expected_challenge: challenge,
    expected_origin: siteUrl().origin,
    prior_sign_count: passkey.signCount,
    require_user_verification: true,
  });
  if (!(await store.recordUse(passkey, { signCount: sign_count, backedUp: backed_up }))) throw unknownPasskeyError();
  signIn(user);
  throw redirect(account.href());
});

function decode(text: string): Uint8Array {
  return Buffer.from(text, "base64url");
}

/** Returns the strings in a ticket of this module; none if there is no ticket. */
function parseTicket(value: string | null): string[] {
  return value === null ? [] : JSON.parse(value);
}

function expiredError(): RPCError {
  return new RPCError("unauthenticated", "That took too long. Try again.");
}

function unknownPasskeyError(): RPCError {
  return new RPCError("unauthenticated", "This passkey is not known here. Sign in in another way, and add it again.");
}
