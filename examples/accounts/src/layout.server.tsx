/** The layout of every page, and the error page. */
import { type ErrorPageProps, Head, type Markup, request, session } from "tsweb";
import { account, admin, home, registration } from "./pages.server.tsx";

/** The header with its links, and the content of the page. */
export function Layout({ children }: { readonly children: Markup }) {
  const user = session.user();
  return (
    <>
      <Head>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <meta name="description" content="Register, sign in, sign out: the reference application of tsweb." />
      </Head>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href={home.href()}>
          <img src="/favicon.svg" alt="" width="28" height="28" />
          Accounts
        </a>
        <nav aria-label="Site">
          {!user && <Link href={home.href()}>Sign in</Link>}
          {!user && <Link href={registration.href()}>Register</Link>}
          {user && <Link href={account.href()}>Account</Link>}
          {user?.roles?.includes("admin") && <Link href={admin.href()}>Users</Link>}
        </nav>
      </header>
      <main id="main">{children}</main>
    </>
  );
}

function Link({ href, children }: { readonly href: string; readonly children: Markup }) {
  return (
    <a href={href} aria-current={request.path === href ? "page" : undefined}>
      {children}
    </a>
  );
}

const HEADINGS: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Page not found",
};

/** The page for an error: forbidden, not found, or unexpected. */
export function ErrorPage({ status, message, id }: ErrorPageProps) {
  return (
    <section class="card">
      <h1>{HEADINGS[status] ?? "Something went wrong"}</h1>
      <p>{message}</p>
      {status === 500 && (
        <p class="hint">
          If it happens again, quote this number: <code>{id}</code>
        </p>
      )}
      <p class="aside">
        <a href={home.href()}>Back to the start</a>
      </p>
    </section>
  );
}
