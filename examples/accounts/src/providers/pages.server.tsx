/** "Continue with …": the pages that lead to a provider and back. */
import { NotFound, page, redirect, request, session } from "tsweb";
import { account, home } from "../pages.server.tsx";
import { startSignIn } from "../shared/sign-in-steps.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import { accountOf } from "./account-of.server.ts";
import { startPending, takePending } from "./pending.server.ts";
import { type Profile, type Provider, ProviderError, providers } from "./providers.server.ts";

/** Leads to the provider. It sets a cookie, so it must not run before the click. */
export const start = page("/sign-in/:provider", { prefetch: false }, async ({ provider: id }) => {
  const provider = findProvider(id);
  if (session.user()) return redirect(account.href());
  // Another site must not start a sign-in: a provider that remembers the user would complete it without a question.
  if (!["same-origin", "none", undefined].includes(request.headers["sec-fetch-site"])) return redirect(home.href());
  const checks = startPending(id, request.query.next);
  try {
    return redirect((await provider.signInUrl(callbackUrl(provider), checks)).href, { external: true });
  } catch (error) {
    return failed(provider, error);
  }
});

/** The page to which the provider returns the user, with a code. */
export const callback = page("/sign-in/:provider/callback", async ({ provider: id }) => {
  const provider = findProvider(id);
  const pending = await takePending(id, request.query.state);
  if (!pending) return redirect(failure("expired"));
  let profile: Profile;
  try {
    profile = await provider.readProfile(callbackUrl(provider, request.query), pending);
  } catch (error) {
    return failed(provider, error);
  }
  const owner = await accountOf(profile);
  if (typeof owner === "string") return redirect(failure(owner));
  await startSignIn(owner, pending.next);
  return redirect(pending.next, { or: account.href() });
});

const REASONS: Readonly<Record<string, string>> = {
  denied: "You did not sign in there, or did not allow this site to read your address.",
  expired: "That took too long, was used before, or was started in another browser.",
  unverified: "Your email address is not verified there. Verify it there, or sign in with a password.",
  linked: "Another user of that service signs in to the account with this address.",
  unreachable: "That service does not respond as it should. Try it again later, or sign in in another way.",
};

/** Explains why a sign-in with a provider has failed. */
export const failedPage = page("/sign-in/failed", { title: "Not signed in" }, () => (
  <section class="card">
    <h1>You are not signed in</h1>
    <p>{REASONS[request.query.reason ?? ""] ?? REASONS.unreachable}</p>
    <p class="aside">
      <a href={home.href()}>Back to the sign-in page</a>
    </p>
  </section>
));

/** The links to the providers, for the list of ways to sign in. */
export function ContinueWith({ next }: { readonly next: string | undefined }) {
  return providers.map(({ id, name }) => (
    <li key={id}>
      <a href={start.href({ provider: id }, { query: { next } })}>Continue with {name}</a>
    </li>
  ));
}

function findProvider(id: string): Provider {
  const provider = providers.find((each) => each.id === id);
  if (!provider) throw new NotFound("This site has no such way to sign in.");
  return provider;
}

/** Returns the URL of the callback: each provider has its own, so that one cannot pass off a code of another (mix-up). */
function callbackUrl({ id }: Provider, query: Readonly<Record<string, string>> = {}): URL {
  return new URL(callback.href({ provider: id }, { query }), siteUrl());
}

/** Returns the address of the page that explains a failure. */
const failure = (reason: string) => failedPage.href({}, { query: { reason } });

/** Logs why a provider has failed, by the codes of the error: its message or cause may contain a token or a profile. */
function failed({ id }: Provider, error: unknown) {
  const { name, code, error: response, cause } = error as Record<string, unknown>; // reading a field of any error is safe
  if (response === "access_denied") return redirect(failure("denied"));
  // The provider chooses `response`, for example invalid_client for a wrong secret: a line break would forge a line of the log.
  const { code: reason } = Object(cause) as { code?: unknown };
  const reasons = error instanceof ProviderError ? [error.message] : [name, code, response, reason];
  const words = reasons.filter((reason) => typeof reason === "string" && /^[\w ./-]{1,60}$/.test(reason));
  console.warn(`The sign-in with ${id} failed: ${words.join(", ")}`);
  return redirect(failure("unreachable"));
}
