/**
 * The accounts example, built and running, with users in a browser, for one test file.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { copyExample, type ExampleCopy } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import { freePort } from "#test/free-port";
import { type GitHubServer, startGitHub } from "#test/github-server";
import { type RunningProvider, startIdentityProvider } from "#test/identity-provider";
import { IS_MATRIX } from "#test/matrix";
import { type Environment, type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { ExampleApp, startExample } from "./example-app.ts";

const WITH_SCRIPT = ["with script", { javaScriptEnabled: true }] as const;
const WITHOUT_SCRIPT = ["without script", { javaScriptEnabled: false }] as const;

/** The users of a test of pages that have no script of the application, as a test checks: in `npm test`, one kind is enough. */
export const SCRIPTING = IS_MATRIX ? [WITH_SCRIPT, WITHOUT_SCRIPT] : [WITHOUT_SCRIPT];

/** Copies the example. The caller removes the copy. */
export function copyAccounts(): ExampleCopy {
  return copyExample("accounts", ["tsweb", "@libsql/client", "openid-client"]);
}

/** Builds and serves a copy of the example. */
export async function serveAccounts(copy: ExampleCopy, env: Environment = {}): Promise<RunningServer> {
  await buildOnce(copy.dir, "accounts");
  return startAccounts(copy, env);
}

/** Serves a copy that was built. */
export function startAccounts(copy: ExampleCopy, env: Environment): Promise<RunningServer> {
  return startBuilt(copy.dir, {
    ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}`,
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    ...fasterHashing(),
    ...env,
  });
}

/** The providers with which users of the example sign in, and the example's variables for them. */
export interface Providers {
  readonly provider: RunningProvider;
  readonly github: GitHubServer;
  readonly env: Record<string, string>;
  close(): Promise<unknown>;
}

/** Starts a certified OpenID Connect provider, and a server that does what GitHub does, for the example at a free port. */
export async function startProviders(): Promise<Providers> {
  const PORT = String(await freePort());
  const callback = (id: string) => `http://localhost:${PORT}/sign-in/${id}/callback`;
  const provider = await startIdentityProvider({ redirect: callback("oidc") });
  const github = await startGitHub(callback("github"));
  const env = {
    PORT,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
    OIDC_NAME: "Example",
    GITHUB_CLIENT_ID: github.client.id,
    GITHUB_CLIENT_SECRET: github.client.secret,
    GITHUB_URL: github.address,
    GITHUB_API_URL: `${github.address}/api`,
  };
  return { provider, github, env, close: () => Promise.all([provider.close(), github.close()]) };
}

/** The running example. */
export class AccountsApp extends ExampleApp {
  /** Builds and starts a copy of the example. The caller calls {@link close}. */
  static async open(env: Environment = {}): Promise<AccountsApp> {
    const copy = copyAccounts();
    return new AccountsApp(await startExample(copy, () => serveAccounts(copy, env)));
  }

  override async clear(): Promise<string[]> {
    // Chromium warns at each registration that RS256 is missing. tsweb verifies ES256 only, so only ES256 is requested.
    return (await super.clear()).filter((text) => !text.includes("publicKey.pubKeyCredParams"));
  }
}
