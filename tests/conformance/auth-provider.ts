/**
 * A certified OpenID Connect provider on this machine, and a client that obtains tokens through its pages.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** A provider that is running. Close it at the end. */
export interface RunningProvider {
  readonly userinfo: string;
  /** Signs the user in at the provider, consents, and exchanges the code for an access token. */
  token(scope?: string): Promise<string>;
  /** Revokes a token. */
  revoke(token: string): Promise<void>;
  close(): Promise<void>;
}

const CLIENT = { id: "accounts", secret: randomBytes(16).toString("hex"), redirect: "https://app.example/callback" };

/** The claims of the provider's only user. */
export const PROFILE = { sub: "ada", name: "Ada Lovelace ✓", email: "ada@example.org", email_verified: true };

/** Starts a provider. @param ttlSeconds the lifetime of its access tokens */
export async function startIdentityProvider(ttlSeconds: number): Promise<RunningProvider> {
  // The provider's responses contain its port, so the server listens before the provider is created.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has a port
  server.on("request", createProvider(issuer, ttlSeconds).callback());
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64")}`;
  const post = (path: string, form: Record<string, string>) =>
    fetch(issuer + path, { method: "POST", headers: { authorization: basic }, body: new URLSearchParams(form) });

  return {
    userinfo: `${issuer}/me`,
    async token(scope = "openid profile email") {
      const code = await requestCode(issuer, scope);
      const response = await post("/token", { grant_type: "authorization_code", code, redirect_uri: CLIENT.redirect });
      return ((await response.json()) as { access_token: string }).access_token; // RFC 6749, section 5.1
    },
    async revoke(token) {
      const { status } = await post("/token/revocation", { token });
      if (status !== 200) throw new Error(`The provider responded with ${status} to a revocation.`);
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

function createProvider(issuer: string, ttlSeconds: number): Provider {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [CLIENT.redirect] }],
    claims: { profile: ["name"], email: ["email", "email_verified"] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...PROFILE, sub: id }) }),
    cookies: { keys: [randomBytes(16).toString("hex")] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" }] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    pkce: { required: () => false },
    clockTolerance: 0,
    ttl: { AccessToken: ttlSeconds },
    features: { revocation: { enabled: true } },
  });
}

/** Goes through the provider's pages as a browser does: sign in, consent, return with a code. */
async function requestCode(issuer: string, scope: string): Promise<string> {
  const cookies = new Map<string, string>();
  const query = { client_id: CLIENT.id, redirect_uri: CLIENT.redirect, response_type: "code", scope };
  let url = `${issuer}/auth?${new URLSearchParams(query)}`;
  let form: Record<string, string> | undefined;
  for (let steps = 0; steps < 12; steps++) {
    const response: Response = await fetch(url, {
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      redirect: "manual",
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    form = prompt ? { prompt, login: PROFILE.sub, password: "any" } : undefined;
    url = prompt ? url : new URL(response.headers.get("location") ?? "", url).href;
    const code = url.startsWith(CLIENT.redirect) && new URL(url).searchParams.get("code");
    if (code) return code;
  }
  throw new Error(`The provider returned no code. The last URL was ${url}.`);
}
