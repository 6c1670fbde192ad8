/**
 * Everything the environment says, read once.
 * (Being written: see the design, section 9.)
 */
export interface Config {
  /** Whether guessable keys and development help are refused. */
  readonly production: boolean;
  /** The root of all keys: 32 bytes. */
  readonly secret: Uint8Array;
  /** Roots that still verify and never sign, newest first. */
  readonly previousSecrets: readonly Uint8Array[];
  /** Cookies carry `Secure`, and the session's name the `__Host-` prefix. */
  readonly cookieSecure: boolean;
  /** The root of CSRF tokens; absent when they are not asked for. */
  readonly csrfSecret?: Uint8Array;
  /** The origins that are this site; empty: the connection's own scheme and host. */
  readonly origins: readonly string[];
  /** How many proxies in front are believed. */
  readonly trustProxy: number;
  readonly busUrl?: string;
  readonly maxStreamsPerClient: number;
  readonly metricsPath?: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
}
