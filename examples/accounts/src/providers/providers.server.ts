/** The providers of "Continue with …". Each is offered when its variables are set: see README.md. */
import * as oidc from "openid-client";

/** What a provider says about a user. */
export interface Profile {
  /** The provider. Together with `subject`, it identifies the user for ever: an address can change its owner. */
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  /** Whether the provider has verified that the user receives the mail of this address. */
  readonly isVerified: boolean;
}

/** What a sign-in is checked with when the user returns. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A provider. */
export interface Provider {
  /** Its name in paths. */
  readonly id: string;
  /** Its name for users. */
  readonly name: string;
  /** Returns the URL of the provider's sign-in page. */
  signInUrl(redirectUri: URL, checks: Checks): Promise<URL>;
  /** Exchanges the code in the URL of the callback for the user's profile. Throws if any check fails. */
  readProfile(callback: URL, checks: Checks): Promise<Profile>;
}

/** A provider that does not send what it should. The message contains nothing that it has sent. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

/** How long each request to a provider may take. */
const TIMEOUT_SECONDS = 5;

/** The providers whose variables are set. */
export const providers: readonly Provider[] = [openIdConnect(process.env), gitHub(process.env)].filter(
  (provider) => provider !== null,
);

/** A provider with OpenID Connect, such as Google, GitLab, Okta or Keycloak. It describes itself below its issuer. */
function openIdConnect(env: NodeJS.ProcessEnv): Provider | null {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME } = env;
  if (!areSet({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET })) return null;
  const issuer = new URL(OIDC_ISSUER ?? "");
  const connect = cached(() =>
    oidc.discovery(issuer, OIDC_CLIENT_ID ?? "", undefined, oidc.ClientSecretBasic(OIDC_CLIENT_SECRET), {
      execute: isLoopback(issuer) ? [oidc.allowInsecureRequests] : [],
      timeout: TIMEOUT_SECONDS,
    }),
  );
  return {
    id: "oidc",
    name: OIDC_NAME || issuer.hostname,
    async signInUrl(redirectUri, checks) {
      const parameters = await parametersOf(redirectUri, checks, "openid email profile");
      return oidc.buildAuthorizationUrl(await connect(), { ...parameters, nonce: checks.nonce });
    },
    async readProfile(callback, { state, nonce, verifier }) {
      const configuration = await connect();
      const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      if (!idToken) throw new ProviderError("no ID token was sent");
      // Many providers have the address in the ID token. Others only respond with it.
      const { email, email_verified, name } =
        idToken.email === undefined
          ? await oidc.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
          : idToken;
      return profileOf({ issuer: idToken.iss, subject: idToken.sub, email, isVerified: email_verified === true, name });
    },
  };
}

/** GitHub, and GitHub Enterprise with `GITHUB_URL` and `GITHUB_API_URL`: OAuth without an ID token; the API has the user. */
function gitHub(env: NodeJS.ProcessEnv): Provider | null {
  const { GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET } = env;
  if (!areSet({ GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET })) return null;
  const site = (env.GITHUB_URL || "https://github.com").replace(/\/$/, "");
  const api = (env.GITHUB_API_URL || "https://api.github.com").replace(/\/$/, "");
  const configuration = new oidc.Configuration(
    {
      issuer: site,
      authorization_endpoint: `${site}/login/oauth/authorize`,
      token_endpoint: `${site}/login/oauth/access_token`,
    },
    GITHUB_CLIENT_ID ?? "",
    GITHUB_CLIENT_SECRET,
  );
  configuration.timeout = TIMEOUT_SECONDS;
  if (isLoopback(new URL(site)) && isLoopback(new URL(api))) oidc.allowInsecureRequests(configuration);

  const get = async (path: string, token: string): Promise<unknown> => {
    const response = await oidc.fetchProtectedResource(configuration, token, new URL(api + path), "GET");
    if (!response.ok) throw new ProviderError(`${path} responded with ${response.status}`);
    return response.json();
  };
  return {
    id: "github",
    name: "GitHub",
    async signInUrl(redirectUri, checks) {
      return oidc.buildAuthorizationUrl(configuration, await parametersOf(redirectUri, checks, "read:user user:email"));
    },
    async readProfile(callback, { state, verifier }) {
      const checks = { expectedState: state, pkceCodeVerifier: verifier };
      const { access_token } = await oidc.authorizationCodeGrant(configuration, callback, checks);
      const [user, emails] = await Promise.all([get("/user", access_token), get("/user/emails", access_token)]);
      const { id, login, name } = user as { id?: unknown; login?: unknown; name?: unknown }; // checked in profileOf
      const primary = (emails as { email?: unknown; primary?: unknown; verified?: unknown }[]).find(
        (each) => each.primary === true,
      );
      return profileOf({
        issuer: site,
        // The id stays the same. A login can be given up, and taken by somebody else.
        subject: Number.isSafeInteger(id) ? String(id) : undefined,
        email: primary?.email,
        isVerified: primary?.verified === true,
        name: name ?? login,
      });
    },
  };
}

/** Returns a profile whose fields have been checked: a provider may send anything. */
function profileOf(fields: {
  readonly issuer: string;
  readonly subject: unknown;
  readonly email: unknown;
  readonly isVerified: boolean;
  readonly name: unknown;
}): Profile {
  const { issuer, subject, isVerified } = fields;
  if (typeof subject !== "string" || subject === "") throw new ProviderError("no user id was sent");
  const email = typeof fields.email === "string" ? fields.email : "";
  const name = typeof fields.name === "string" && fields.name.trim() !== "" ? fields.name : email.replace(/@.*/, "");
  return { issuer, subject, email, isVerified, name: name.slice(0, 100) };
}

async function parametersOf(redirectUri: URL, { state, verifier }: Checks, scope: string) {
  const code_challenge = await oidc.calculatePKCECodeChallenge(verifier);
  return { redirect_uri: redirectUri.href, scope, state, code_challenge, code_challenge_method: "S256" };
}

/** Returns a function that connects on first use, and again after a failure. */
function cached<T>(connect: () => Promise<T>): () => Promise<T> {
  let connected: Promise<T> | undefined;
  return () => {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
}

/** Returns whether all variables are set, or `false` if none is. */
function areSet(variables: Readonly<Record<string, string | undefined>>): boolean {
  const names = Object.keys(variables);
  const missing = names.filter((name) => !variables[name]);
  if (missing.length > 0 && missing.length < names.length) {
    throw new Error(`${missing.join(" and ")} is not set. Set all of ${names.join(", ")}, or none.`);
  }
  return missing.length === 0;
}

/** Returns whether a provider is on this machine, as in tests. All others have to use HTTPS. */
function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
