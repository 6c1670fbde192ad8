import { type int, server, session } from "tsweb";

/** Returns its arguments, as every peer does: a string and a checked integer. */
export const echo = server((text: string, n: int) => ({ text, n }));

/** The same for a signed-in user: each call verifies the signature of the cookie. */
export const echo_signed_in = server({ auth_required: true }, (text: string, n: int) => ({ text, n }));

/** Signs in, so that the benchmark has a cookie to send. */
export const sign_in = server((email: string) => {
  session.login(email, { name: "Ada Lovelace", roles: ["editor"] });
});
