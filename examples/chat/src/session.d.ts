import "tsweb";

declare module "tsweb" {
  /** What a session carries beside `sub`, which was made up when its person came in. */
  interface Claims {
    name: string;
  }
}
