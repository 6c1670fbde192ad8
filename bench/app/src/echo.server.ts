import { type int, server, session } from "tsweb";

/** What every peer serves too: one string, and one whole number that is checked. */
export const echo = server((text: string, n: int) => ({ text, n }));

/** The same for a visitor who is signed in: the cookie's signature is verified on each call. */
export const echo_signed_in = server({ auth_required: true }, (text: string, n: int) => ({ text, n }));

/** Gives the measurement a cookie to send. */
export const sign_in = server((email: string) => {
  session.login(email, { name: "Ada Lovelace", roles: ["editor"] });
});
