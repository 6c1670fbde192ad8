import type { CallSettings } from "../rpc/index.ts";

/** The settings of the forms of an application, and of their two addresses. */
export interface FormSettings
  extends Pick<
    CallSettings,
    "functions" | "log" | "rate" | "rpc_timeout" | "max_body" | "strict" | "development" | "build" | "connectionsBefore"
  > {
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  /** Whether the fields of a refused form are read: a page shows again what was typed. */
  readonly keepsFields: boolean;
  /** The build of the page and the hash of the function, as the form carries them. @see docs/protocol.md 3.9 */
  readonly version: string | null | undefined;
}
