/**
 * The browser's side of passkeys: its own calls, and what is said when they come to nothing.
 */
import { RPCError } from "tsweb/browser";

/** Has the device make a passkey. */
export async function make(options: PublicKeyCredentialCreationOptionsJSON) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await asked(() => navigator.credentials.create({ publicKey }));
  return credential.toJSON() as RegistrationResponseJSON; // it was made just now
}

/** Has the device sign with a passkey that the visitor chooses. */
export async function use(options: PublicKeyCredentialRequestOptionsJSON) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await asked(() => navigator.credentials.get({ publicKey }));
  return credential.toJSON() as AuthenticationResponseJSON; // it was used just now
}

/** Throws where there are no passkeys: an old browser, or an address that is neither https nor this machine's. */
export function requirePasskeys(): void {
  if (!("PublicKeyCredential" in window) || !("parseRequestOptionsFromJSON" in PublicKeyCredential)) {
    throw new RPCError("validation_error", "This browser cannot use passkeys here.");
  }
}

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await ask()) as PublicKeyCredential; // nothing else was asked for
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "InvalidStateError") {
      throw new RPCError("conflict", "This device has a passkey for your account already.");
    }
    // Cancelled, timed out, or there was none: browsers do not tell which, so that sites cannot spy.
    if (name === "NotAllowedError") throw new RPCError("unauthenticated", "No passkey was used. Try again.");
    throw error;
  }
}
