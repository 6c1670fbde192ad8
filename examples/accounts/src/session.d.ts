import "tsweb";

declare module "tsweb" {
  /** The claims of a session, besides `sub`: the email address. */
  interface Claims {
    name: string;
    roles?: readonly string[];
    /** The session was started with a sign-in link alone. Its user may not know who has registered the account. */
    by_link?: true;
  }
}
