/** Makes a registered user an admin: `npm run make-admin -- ada@example.com`. */
import { close } from "../src/shared/database.server.ts";
import { makeAdmin } from "../src/users.server.ts";

const email = (process.argv[2] ?? "").trim().toLowerCase();

if (await makeAdmin(email)) {
  console.log(`${email} is an admin after the next sign-in.`);
} else {
  console.error(`Nobody is registered as "${email}". Register the address first, or correct it.`);
  process.exitCode = 1;
}
await close();
