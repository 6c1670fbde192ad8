/**
 * A certificate for `shop.example`, the host name of `deploy/`.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { isIPv4 } from "node:net";
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
 * Creates a certificate that is valid for a day, without a program: unit tests use it.
 *
 * @param folder the folder of its files
 * @param hosts the host names and IPv4 addresses that it is for
 * @see RFC 5280 section 4.1
 */
export function createCertificate(folder: string, hosts: readonly string[] = [TEST_HOST]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(SET, sequence(COMMON_NAME, der(UTF8_STRING, Buffer.from(TEST_HOST)))));
  const day = 86_400_000;
  const signed = sequence(
    der(0xa0, der(INTEGER, Buffer.of(2))), // version 3
    der(INTEGER, Buffer.concat([Buffer.of(1), randomBytes(8)])), // the serial number
    ECDSA_WITH_SHA256,
    name, // the issuer
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name, // the subject
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(OCTET_STRING, sequence(...hosts.map(generalName)))))),
  );
  const signature = der(BIT_STRING, Buffer.of(0), sign("sha256", signed, privateKey));
  const base64 = sequence(signed, ECDSA_WITH_SHA256, signature).toString("base64");
  const pem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
  const [certificateFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  writeFileSync(certificateFile, pem);
  writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  return { certificateFile, keyFile, pem };
}

// Tags and object identifiers of DER (ITU-T X.690).
const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME, SEQUENCE, SET] = [2, 3, 4, 0x0c, 0x17, 0x30, 0x31];
const COMMON_NAME = Buffer.from("0603550403", "hex");
const SUBJECT_ALT_NAME = Buffer.from("0603551d11", "hex");
const ECDSA_WITH_SHA256 = Buffer.from("300a06082a8648ce3d040302", "hex");

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const bytes = length < 256 ? [length] : [length >> 8, length & 255]; // the shortest form, which Go requires
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [] : [0x80 + bytes.length]), ...bytes]), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(SEQUENCE, ...contents);
}

function utcTime(time: number): Buffer {
  return der(UTC_TIME, Buffer.from(`${new Date(time).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
}

/** Returns a host name or an IPv4 address in the form of a subject alternative name. */
function generalName(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));
}
