/** The calls of the WebAuthn API in the browser, with messages for the user if they fail. */
import { RPCError } from "tsweb/browser";

// The parts of the responses that the server needs. TypeScript declares their types since version 6 only.

interface RegistrationResponse {
  readonly response: { readonly clientDataJSON: string; readonly authenticatorData: string };
}

interface AuthenticationResponse {
  readonly id: string;
  readonly response: RegistrationResponse["response"] & { readonly signature: string; readonly userHandle?: string };
}

/** Creates a passkey on the user's device. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await requestCredential(() => navigator.credentials.create({ publicKey }));
  return credential.toJSON() as RegistrationResponse; // It is the response to a creation.
}

/** Signs a challenge with a passkey that the user chooses. */
export async function usePasskey(options: PublicKeyCredentialRequestOptionsJSON) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await requestCredential(() => navigator.credentials.get({ publicKey }));
  return credential.toJSON() as AuthenticationResponse; // It is the response to a sign-in.
}

/** Throws if the browser is too old for passkeys, or the page is neither on https nor on localhost. */
export function requirePasskeySupport(): void {
  if (!("PublicKeyCredential" in window) || !("parseRequestOptionsFromJSON" in PublicKeyCredential)) {
    throw new RPCError("validation_error", "This browser cannot use passkeys here.");
  }
}

async function requestCredential(request: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await request()) as PublicKeyCredential; // The options request no other kind of credential.
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "InvalidStateError") {
      throw new RPCError("conflict", "This device has a passkey for your account already.");
    }
    // The user cancelled, the time ran out, or there is no passkey. Browsers hide the reason, to protect privacy.
    if (name === "NotAllowedError") throw new RPCError("unauthenticated", "No passkey was used. Try again.");
    throw error;
  }
}
