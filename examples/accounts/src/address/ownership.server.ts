/** What somebody may do who has proven that they receive the mail of an address. */
import { session } from "tsweb";
import * as codes from "../codes/store.server.ts";
import * as passkeys from "../passkeys/store.server.ts";
import { changeHash, type User } from "../users.server.ts";
import { confirm, isConfirmed } from "./store.server.ts";

/**
 * Gives an account a new password for the owner of its address, and ends all of its sessions. If the address was not
 * confirmed, somebody else may have registered it: their passkeys and codes are removed too, and the address is confirmed.
 *
 * @returns `false` if the password has changed since `user` was read
 */
export async function proveOwnership(user: User, hash: string): Promise<boolean> {
  if (!(await changeHash(user, hash))) return false;
  const wasConfirmed = await isConfirmed(user.email);
  let numRemoved = 0;
  do {
    await session.revoke(user.email);
    // A passkey that is found after the revocation may have started another session.
    numRemoved = wasConfirmed ? 0 : (await passkeys.removeAll(user.email)) + (await codes.remove(user.email));
  } while (numRemoved > 0);
  if (!wasConfirmed) await confirm(user.email);
  return true;
}
