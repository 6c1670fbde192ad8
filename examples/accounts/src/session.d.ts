import "tsweb";

declare module "tsweb" {
  /** The claims of a session, besides `sub`: the email address. */
  interface Claims {
    name: string;
    roles?: readonly string[];
  }
}
