/**
 * Runs the functions of the built tsweb/auth on a given runtime, and compares their results. It does not use the test
 * runner, so that `npm run matrix` can run it on any runtime.
 */
import { deepStrictEqual } from "node:assert";
import { execFile } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";
import { listen } from "#test/listen";

const MODULE = pathToFileURL(join(repository, "dist/auth/index.js")).href;
const TOOLKIT = join(repository, "tests/conformance/fixtures/toolkit.mjs");

const valueError = (message: string) => ({ name: "ValueError", message });
const noProfile = { name: "Error", message: "oidc_userinfo: … returned no profile" };

const EXPECTED = {
  passkey: { sign_count: 0, user_verified: false, backed_up: true },
  forged: valueError("The passkey's signature is wrong."),
  offCurve: valueError("The passkey's public key is not a point of P-256."),
  raw: valueError("The passkey's signature is not a signature of P-256."),
  truncatedKey: valueError("The COSE key cannot be used: it is not one CBOR map."),
  keyAsText: {
    name: "TypeError",
    message: "cose_to_raw_point: the key must be bytes (a Uint8Array). Received: string.",
  },
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
  plain: {
    name: "TypeError",
    message: "oidc_userinfo: the endpoint must be an https URL. Plain http is allowed for localhost only.",
  },
  redirected: 0,
};

/** The difference of each result from its expected value, by the name of the check; `null` if there is none. */
export type ToolkitDifferences = Readonly<Record<string, string | null>>;

/**
 * Runs all checks on a runtime.
 *
 * @param program the executable of the runtime
 * @param args the arguments before the file to run
 */
export async function checkToolkit(program: string, args: readonly string[]): Promise<ToolkitDifferences> {
  let redirected = 0;
  const provider = await listen((request, response) => {
    if (request.url === "/elsewhere") redirected++;
    handleRequest(request, response);
  });
  try {
    const { stdout } = await promisify(execFile)(program, [...args, TOOLKIT, MODULE, provider.address]);
    const actual = { ...JSON.parse(stdout), redirected };
    return Object.fromEntries(
      Object.entries(EXPECTED).map(([name, expected]) => [name, difference(actual[name], expected)]),
    );
  } finally {
    await provider.close();
  }
}

/** An identity provider with valid and invalid responses. */
function handleRequest({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const json = (value: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (url === "/profile") json({ sub: "ada", token: headers.authorization });
  else if (url === "/refused") response.writeHead(401).end();
  else if (url === "/redirect") response.writeHead(302, { location: "/elsewhere" }).end();
  else if (url === "/huge") json({ sub: "ada", x: "x".repeat(1024 * 1024) });
  else json({ sub: "mallory" });
}

function difference(actual: unknown, expected: unknown): string | null {
  try {
    deepStrictEqual(actual, expected);
    return null;
  } catch (error) {
    return String(error);
  }
}
