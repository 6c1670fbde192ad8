/**
 * A server that does what GitHub does for "Continue with GitHub": OAuth with PKCE and without an ID token, and an API for the
 * user and the addresses.
 */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The user who is signed in at the server. */
export interface GitHubUser {
  readonly id: unknown;
  readonly login: string;
  readonly name: string | null;
  readonly emails: readonly { readonly email: string; readonly primary: boolean; readonly verified: unknown }[];
}

/** A running server. */
export interface GitHubServer {
  readonly address: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** The user who is signed in. A test replaces it. */
  user: GitHubUser;
  /** Whether the user allows the application to read the addresses. */
  isAllowed: boolean;
  close(): Promise<void>;
}

/** What was agreed on when a code was issued. */
interface Grant {
  readonly redirect: string;
  readonly challenge: string;
  readonly user: GitHubUser;
}

/** Starts a server whose user is Grace. @param callback the URL to which it redirects, and to no other one */
export async function startGitHub(callback: string): Promise<GitHubServer> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error)); // it throws errors only
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has a port
  const grants = new Map<string, Grant>();
  const users = new Map<string, GitHubUser>();
  const github: GitHubServer = {
    address,
    client: { id: "github-client", secret: randomBytes(20).toString("hex") },
    user: { id: 85, login: "grace", name: "Grace Hopper", emails: [] },
    isAllowed: true,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };

  /** Returns the user to the application, with a code that is valid once. */
  function authorize(query: URLSearchParams, response: ServerResponse): void {
    if (query.get("redirect_uri") !== callback || query.get("client_id") !== github.client.id) {
      response.writeHead(404).end("The redirect_uri or the client_id is not registered.");
      return;
    }
    const location = new URL(callback);
    location.searchParams.set("state", query.get("state") ?? "");
    if (github.isAllowed && query.get("code_challenge_method") === "S256") {
      const code = randomBytes(10).toString("hex");
      grants.set(code, { redirect: callback, challenge: query.get("code_challenge") ?? "", user: github.user });
      location.searchParams.set("code", code);
    } else {
      location.searchParams.set("error", "access_denied");
      location.searchParams.set("error_description", "The user has denied your application access.");
    }
    response.writeHead(302, { location: location.href }).end();
  }

  /** Exchanges a code for a token. GitHub reports errors with status 200. */
  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isClient = form.get("client_id") === github.client.id && form.get("client_secret") === github.client.secret;
    if (!grant || !isClient || challenge !== grant.challenge || form.get("redirect_uri") !== grant.redirect) {
      sendJson(response, 200, { error: "bad_verification_code" });
      return;
    }
    const token = `gho_${randomBytes(18).toString("hex")}`;
    users.set(token, grant.user);
    sendJson(response, 200, { access_token: token, token_type: "bearer", scope: "read:user,user:email" });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", address);
    if (pathname === "/login/oauth/authorize") return authorize(searchParams, response);
    if (pathname === "/login/oauth/access_token") return exchange(request, response);
    const user = users.get(request.headers.authorization?.replace(/^Bearer /i, "") ?? "");
    if (!user) return sendJson(response, 401, { message: "Bad credentials" });
    if (!request.headers["user-agent"]) return sendJson(response, 403, { message: "User-Agent is missing" });
    const { id, login, name, emails } = user;
    if (pathname === "/api/user") return sendJson(response, 200, { id, login, name });
    if (pathname === "/api/user/emails") return sendJson(response, 200, emails);
    return sendJson(response, 404, { message: "Not Found" });
  }
  return github;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
}
