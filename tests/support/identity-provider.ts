/**
 * A certified OpenID Connect provider on this machine, and a client that goes through its pages.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** A provider that is running. Close it at the end. */
export interface RunningProvider {
  readonly issuer: string;
  readonly userinfo: string;
  /** The client that is registered at the provider. */
  readonly client: { readonly id: string; readonly secret: string };
  /** The claims of its users, by the names that they sign in with. A user without an entry has those of {@link PROFILE}. */
  readonly profiles: Map<string, object>;
  /** Signs a user in at the provider and consents, and returns the URL that the provider then redirects to. */
  signIn(authorizationUrl: string, login: string): Promise<string>;
  /** Signs the user in at the provider, consents, and exchanges the code for an access token. */
  token(scope?: string): Promise<string>;
  /** Revokes a token. */
  revoke(token: string): Promise<void>;
  close(): Promise<void>;
}

/** The options of {@link startIdentityProvider}. */
export interface ProviderOptions {
  /** The lifetime of access tokens. Default: 600. */
  readonly ttlSeconds?: number;
  /** The URL to which the provider redirects. */
  readonly redirect?: string;
}

/** The claims of the provider's users. */
export const PROFILE = { sub: "ada", name: "Ada Lovelace ✓", email: "ada@example.org", email_verified: true };

/** Starts a provider. */
export async function startIdentityProvider(options: ProviderOptions = {}): Promise<RunningProvider> {
  const { ttlSeconds = 600, redirect = "https://app.example/callback" } = options;
  // The provider's responses contain its port, so the server listens before the provider is created.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has a port
  const client = { id: "accounts", secret: randomBytes(16).toString("hex") };
  const profiles = new Map<string, object>();
  server.on("request", createProvider({ issuer, client, profiles, ttlSeconds, redirect }).callback());
  const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  const post = (path: string, form: Record<string, string>) =>
    fetch(issuer + path, { method: "POST", headers: { authorization: basic }, body: new URLSearchParams(form) });
  const signIn = (url: string, login: string) => goThroughPages(url, login, redirect);

  return {
    issuer,
    client,
    profiles,
    signIn,
    userinfo: `${issuer}/me`,
    async token(scope = "openid profile email") {
      const query = { client_id: client.id, redirect_uri: redirect, response_type: "code", scope };
      const callback = await signIn(`${issuer}/auth?${new URLSearchParams(query)}`, PROFILE.sub);
      const code = new URL(callback).searchParams.get("code") ?? "";
      const response = await post("/token", { grant_type: "authorization_code", code, redirect_uri: redirect });
      return ((await response.json()) as { access_token: string }).access_token; // RFC 6749, section 5.1
    },
    async revoke(token) {
      const { status } = await post("/token/revocation", { token });
      if (status !== 200) throw new Error(`The provider responded with ${status} to a revocation.`);
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

interface ProviderSettings extends Required<ProviderOptions>, Pick<RunningProvider, "issuer" | "client" | "profiles"> {}

function createProvider({ issuer, client, profiles, ttlSeconds, redirect }: ProviderSettings): Provider {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirect] }],
    claims: { profile: ["name"], email: ["email", "email_verified"] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ ...PROFILE, ...profiles.get(id), sub: id }),
    }),
    cookies: { keys: [randomBytes(16).toString("hex")] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" }] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    pkce: { required: () => false },
    clockTolerance: 0,
    ttl: { AccessToken: ttlSeconds },
    features: { revocation: { enabled: true } },
  });
}

/** Goes through the provider's pages as a browser does: sign in, consent. Returns the URL to which it returns. */
async function goThroughPages(authorizationUrl: string, login: string, redirect: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
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
    form = prompt ? { prompt, login, password: "any" } : undefined;
    url = prompt ? url : new URL(response.headers.get("location") ?? "", url).href;
    if (url.startsWith(redirect)) return url;
  }
  throw new Error(`The provider did not return. The last URL was ${url}.`);
}
