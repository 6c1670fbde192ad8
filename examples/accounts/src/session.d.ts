import "tsweb";

declare module "tsweb" {
  /** What this application's sessions carry beside `sub`, the address. */
  interface Claims {
    name: string;
    roles?: readonly string[];
  }
}
