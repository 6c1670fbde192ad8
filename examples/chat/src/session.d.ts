import "tsweb";

declare module "tsweb" {
  /** The claims of a session, besides `sub`: a random id that is created when the user enters. */
  interface Claims {
    name: string;
  }
}
