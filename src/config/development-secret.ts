import { hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { resolve } from "node:path";
import { SECRET_BYTES } from "./secrets.ts";

/**
 * Returns the secret of the development server. It is derived from the machine, the user and the project directory, so
 * that a restart does not sign anybody out and every project has another secret.
 *
 * It can be guessed. Production therefore never uses it.
 */
export function developmentSecret(projectDir: string): Uint8Array {
  const input = JSON.stringify([hostname(), machineId(), userName(), resolve(projectDir)]);
  return new Uint8Array(hkdfSync("sha256", input, "tsweb", "development key", SECRET_BYTES));
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return ""; // Only Linux has this file. The other inputs differ between machines as well.
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? ""); // The user of a container may have no name.
  }
}
