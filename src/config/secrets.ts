import { hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { resolve } from "node:path";
import { InvalidVariableError } from "./config-error.ts";

/** The length of a secret, in bytes. */
const SECRET_BYTES = 32;

/** How to create a secret. */
export const CREATE_SECRET =
  "Create one with: node -e \"console.log(require('node:crypto').randomBytes(32).toString('hex'))\"";

const MAX_PREVIOUS_SECRETS = 8;

/**
 * Returns the 32 bytes of a secret. The messages contain the length of a secret at most, never a part of it.
 *
 * @param production whether guessable secrets are refused
 */
export function parseSecret(text: string, production: boolean): Uint8Array {
  if (!/^[0-9a-fA-F]*$/.test(text)) {
    throw new InvalidVariableError("contains a character that is not a hexadecimal digit.", CREATE_SECRET);
  }
  const digits = SECRET_BYTES * 2;
  if (text.length !== digits) {
    throw new InvalidVariableError(`has ${text.length} hexadecimal digits instead of ${digits}.`, CREATE_SECRET);
  }
  const secret = new Uint8Array(Buffer.from(text, "hex"));
  if (production && isGuessable(secret)) {
    throw new InvalidVariableError("is not random: its bytes repeat or follow a pattern.", CREATE_SECRET);
  }
  return secret;
}

/**
 * Returns whether a secret was typed by a person instead of generated: a short pattern that repeats, a sequence with a
 * constant step, or fewer than 8 different bytes.
 *
 * It errs towards accepting: a typed secret without such a pattern passes. Of random secrets, it refuses one in 2^100.
 */
function isGuessable(secret: Uint8Array): boolean {
  const step = (secret[1] ?? 0) - (secret[0] ?? 0);
  const isSequence = secret.every((byte, i) => i === 0 || ((byte - (secret[i - 1] ?? 0) - step) & 0xff) === 0);
  const repeatsAfter = (period: number) => secret.every((byte, i) => i < period || byte === secret[i - period]);
  const periods = Array.from({ length: 16 }, (_, i) => i + 1);
  return isSequence || new Set(secret).size < 8 || periods.some(repeatsAfter);
}

/** Returns the secrets of `WEB_AUTH_SECRET_PREVIOUS`, newest first. @see docs/protocol.md 7.7 */
export function parsePreviousSecrets(text: string, production: boolean): readonly Uint8Array[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.length > MAX_PREVIOUS_SECRETS) {
    throw new InvalidVariableError(
      `lists ${items.length} secrets, more than ${MAX_PREVIOUS_SECRETS}. Each is tried on every invalid cookie.`,
      `Keep at most ${MAX_PREVIOUS_SECRETS}: those that were replaced less than 7 days ago, the lifetime of a session.`,
    );
  }
  return items.map((item, i) => parsePreviousSecret(item, `(secret ${i + 1} of ${items.length})`, production));
}

function parsePreviousSecret(text: string, location: string, production: boolean): Uint8Array {
  try {
    return parseSecret(text, production);
  } catch (error) {
    if (!(error instanceof InvalidVariableError)) throw error;
    throw new InvalidVariableError(
      `${location} ${error.problem}`,
      "List earlier values of WEB_AUTH_SECRET, 64 hexadecimal digits each, separated by commas.",
    );
  }
}

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
