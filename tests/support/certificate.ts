/**
 * A certificate for `shop.example`, the host name of `deploy/`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The host name of the certificate. */
export const TEST_HOST = "shop.example";

/** A certificate that its own key has signed. */
export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** The certificate in PEM, which clients have to trust. */
  readonly pem: string;
}

/**
 * Creates a certificate with `openssl`.
 *
 * @param folder the folder of its files
 * @param names what it is for, separated by commas: `DNS:` and a host name, or `IP:` and an address
 */
export function createCertificate(folder: string, names = `DNS:${TEST_HOST}`): Certificate {
  const [certificateFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const subject = ["-subj", `/CN=${TEST_HOST}`, "-addext", `subjectAltName=${names}`];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile];
  execFileSync("openssl", ["req", "-x509", ...subject, ...key, "-out", certificateFile], { stdio: "pipe" });
  return { certificateFile, keyFile, pem: readFileSync(certificateFile, "utf8") };
}
