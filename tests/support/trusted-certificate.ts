/**
 * A certificate for localhost that TLS connections of this process trust, as with `NODE_EXTRA_CA_CERTS`, which Node reads
 * only when a process starts.
 */
import tls from "node:tls";
import { type Certificate, createCertificate } from "./certificate.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** A certificate that is trusted until it is removed. */
export interface TrustedCertificate extends Certificate {
  /** Whether connections trust it. Default: true. */
  isTrusted: boolean;
  /** The host names that connections have verified. */
  readonly verifiedHosts: ReadonlySet<string>;
  /** Deletes its files. No connection trusts it any more. */
  remove(): void;
}

/** Creates a certificate. From now on, connections trust it in addition to the options that they set. */
export function trustCertificate(): TrustedCertificate {
  const folder = new TemporaryFolder("certificate");
  const certificate = createCertificate(folder.path, ["localhost", "127.0.0.1"]);
  const verifiedHosts = new Set<string>();
  const { connect, checkServerIdentity } = tls;
  const trust = (argument: unknown): unknown => {
    if (typeof argument !== "object" || argument === null || !trusted.isTrusted) return argument;
    return {
      ...argument,
      ca: [certificate.pem],
      checkServerIdentity: (...[host, peer]: Parameters<typeof checkServerIdentity>) => {
        const error = checkServerIdentity(host, peer);
        if (!error) verifiedHosts.add(host);
        return error;
      },
    };
  };
  // Clients read it from the module for each connection. The signatures of its overloads are kept.
  tls.connect = ((...args: readonly unknown[]) => Reflect.apply(connect, tls, args.map(trust))) as typeof connect;
  const trusted: TrustedCertificate = {
    ...certificate,
    ...{ isTrusted: true, verifiedHosts },
    remove() {
      tls.connect = connect;
      folder.remove();
    },
  };
  return trusted;
}
