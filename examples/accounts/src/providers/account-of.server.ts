/** Which account a user of a provider signs in to. */
import { randomBytes } from "node:crypto";
import { hash_password } from "tsweb/auth";
import { proveOwnership } from "../address/ownership.server.ts";
import { confirm, isConfirmed } from "../address/store.server.ts";
import * as users from "../users.server.ts";
import type { Profile } from "./providers.server.ts";
import { findLinked, link } from "./store.server.ts";

/** Why a user of a provider signs in to no account. */
export type Refusal = "unverified" | "linked";

/**
 * Returns the account of a user of a provider: the one that is linked to them, the one with their address, or a new one.
 *
 * The address decides only if the provider has verified it. Otherwise anybody could type the address of somebody else at a
 * provider, and sign in to their account here. An account with an unconfirmed address is the reverse: somebody may have
 * registered the address of this user, and wait. So that person's password, passkeys and codes are removed.
 */
export async function accountOf(profile: Profile): Promise<users.User | Refusal> {
  const linked = await findLinked(profile);
  if (linked !== undefined) return (await users.find(linked)) ?? "unverified";
  const address = verifiedAddress(profile);
  if (address === null) return "unverified";

  const hash = await hash_password(randomBytes(32).toString("base64url")); // a password that nobody knows
  const isNew = await users.add({ email: address, name: profile.name, hash });
  const user = await users.find(address);
  if (isNew) await confirm(address);
  else if (user && !(await isConfirmed(address))) await proveOwnership(user, hash);
  const isLinked = (await link(profile, address)) || (await findLinked(profile)) === address;
  return user && isLinked ? user : "linked";
}

/** Returns the address that the provider has verified, in the form in which addresses are stored; `null` if there is none. */
function verifiedAddress({ email, isVerified }: Pick<Profile, "email" | "isVerified">): string | null {
  const address = users.normalise(email);
  if (!isVerified || !users.isAddress(address) || address.length > users.MAX_EMAIL_CHARS) return null;
  // The lower case of the Kelvin sign is a k: a different address, which must not become that of another user.
  const isSameAddress = address === email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return isSameAddress ? address : null;
}
