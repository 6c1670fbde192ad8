/**
 * tsweb/auth as it is built, on every runtime that an application runs on: each gives the same.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "../support/copy-example.ts";
import { type LocalServer, listen } from "../support/listen.ts";
import { programOf, RUNTIMES } from "../support/runtimes.ts";

const MODULE = pathToFileURL(join(repository, "dist/auth/index.js")).href;
const TOOLKIT = join(repository, "tests/system/fixtures/auth/toolkit.mjs");

const valueError = (message: string) => ({ name: "ValueError", message });
const noProfile = { name: "Error", message: "oidc_userinfo: … gave no profile" };

const EXPECTED = {
  passkey: { sign_count: 0, user_verified: false, backed_up: true },
  forged: valueError("The passkey's signature is wrong."),
  beside: valueError("The passkey's public key is not a point of P-256."),
  raw: valueError("The passkey's signature is not one of P-256 in DER."),
  noKey: valueError("The COSE key cannot be used: it is not one CBOR map."),
  noBytes: { name: "TypeError", message: "cose_to_raw_point: the key must be bytes (a Uint8Array)." },
  totp: "287082",
  code: [true, false],
  password: [true, false],
  django: true,
  magic: ["ada ✓", null],
  profile: { sub: "ada", token: "Bearer token" },
  refused: {
    name: "RPCError",
    code: "unauthenticated",
    message: "The identity provider refused the access token.",
  },
  redirect: noProfile,
  huge: noProfile,
  plain: { name: "TypeError", message: "oidc_userinfo: the endpoint must be https; http is for this machine only." },
};

let provider: LocalServer;
let redirected = 0;

beforeAll(async () => {
  provider = await listen((request, response) => {
    const json = { "content-type": "application/json" };
    if (request.url === "/profile") {
      response.writeHead(200, json).end(JSON.stringify({ sub: "ada", token: request.headers.authorization }));
    } else if (request.url === "/refused") {
      response.writeHead(401).end();
    } else if (request.url === "/redirect") {
      response.writeHead(302, { location: "/elsewhere" }).end();
    } else if (request.url === "/huge") {
      response.writeHead(200, json).end(JSON.stringify({ sub: "ada", x: "x".repeat(1024 * 1024) }));
    } else {
      redirected++;
      response.writeHead(200, json).end('{"sub":"mallory"}');
    }
  });
});
afterAll(() => provider?.close());

describe("tsweb/auth", () => {
  it.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))(
    "gives what is right on %s",
    { timeout: 180_000 },
    async (_name, runtime) => {
      const args = [...runtime.args, TOOLKIT, MODULE, provider.address];
      const { stdout } = await promisify(execFile)(await programOf(runtime), args);
      expect(JSON.parse(stdout)).toEqual(EXPECTED);
      expect(redirected).toBe(0);
    },
  );
});
