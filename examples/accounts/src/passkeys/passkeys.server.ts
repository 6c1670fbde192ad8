/**
 * Passkeys: what the browser can call. All bytes travel as base64url, as browsers write them.
 */
import { randomBytes } from "node:crypto";
import { RPCError, server, session } from "tsweb";
import { verify_webauthn_assertion } from "tsweb/auth";
import { welcome } from "../shared/admission.server.ts";
import { site } from "../shared/site.server.ts";
import { hand, take } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import { readRegistration } from "./registration.ts";
import * as store from "./store.server.ts";

/** ES256: what every authenticator has, and what tsweb verifies. */
const ES256 = -7;

/** A person has this many devices, and not a hundred. */
const MOST = 20;

const TIMEOUT_MS = 5 * 60_000;

/** Begins the registration of a passkey: gives what the browser asks the authenticator for. */
export const new_passkey = server({ auth_required: true }, async () => {
  const { sub, name } = session.require();
  const passkeys = await store.of(sub);
  if (passkeys.length >= MOST) throw new RPCError("conflict", `You have ${MOST} passkeys. Remove one first.`);
  // One handle for all passkeys of an account: a device that has one replaces it.
  const handle = passkeys[0]?.handle ?? randomBytes(32).toString("base64url");
  const challenge = randomBytes(32).toString("base64url");
  await hand("passkey-add", JSON.stringify([challenge, sub, handle]));
  return {
    challenge,
    rp: { id: site().hostname, name: "Accounts" },
    user: { id: handle, name: sub, displayName: name },
    pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: passkeys.map(({ id }) => ({ type: "public-key", id })),
    attestation: "none",
    timeout: TIMEOUT_MS,
  } as const;
});

/** Registers the passkey that the authenticator made. */
export const add_passkey = server({ auth_required: true }, async (clientData: string, authData: string) => {
  const { sub } = session.require();
  const [challenge, email, handle] = parse(await take("passkey-add"));
  if (!challenge || !handle || email !== sub) throw tooLate();
  const { origin, hostname: rpId } = site();
  const registration = readRegistration({
    clientData: bytes(clientData),
    authData: bytes(authData),
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

/** Begins a sign-in with a passkey. Which one it will be, the visitor and their device decide. */
export const ask_for_passkey = server(async () => {
  const challenge = randomBytes(32).toString("base64url");
  await hand("passkey-use", JSON.stringify([challenge]));
  return { challenge, rpId: site().hostname, userVerification: "required", timeout: TIMEOUT_MS } as const;
});

/** What an authenticator answers: the fields of the browser's own JSON. */
interface Answer {
  id: string;
  clientData: string;
  authData: string;
  signature: string;
  userHandle: string;
}

/**
 * Signs in with a passkey. It stands for two factors, the device and a finger, a face or a PIN, so
 * no code is asked for after it.
 */
export const sign_in_with_passkey = server(async ({ id, clientData, authData, signature, userHandle }: Answer) => {
  const [challenge] = parse(await take("passkey-use"));
  if (!challenge) throw tooLate();
  const passkey = await store.find(id);
  const user = passkey?.handle === userHandle ? await users.find(passkey.email) : undefined;
  if (!passkey || !user) throw unknown();

  const { sign_count, backed_up } = verify_webauthn_assertion({
    credential_public_key: passkey.point,
    auth_data: bytes(authData),
    client_data_json: bytes(clientData),
    signature: bytes(signature),
    rp_id: site().hostname,
    expected_challenge: challenge,
    expected_origin: site().origin,
    prior_sign_count: passkey.signCount,
    require_user_verification: true,
  });
  if (!(await store.use(passkey, { signCount: sign_count, backedUp: backed_up }))) throw unknown();
  welcome(user);
});

function bytes(text: string): Uint8Array {
  return Buffer.from(text, "base64url");
}

/** Reads what a ticket keeps: a list of texts, which this module wrote. */
function parse(value: string | null): string[] {
  return value === null ? [] : JSON.parse(value);
}

function tooLate(): RPCError {
  return new RPCError("unauthenticated", "That took too long. Try again.");
}

function unknown(): RPCError {
  return new RPCError("unauthenticated", "This passkey is not known here. Sign in in another way, and add it again.");
}
