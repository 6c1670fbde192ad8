/** The layout of every page, and the error page. */
import { type ErrorPageProps, Head, type Markup } from "tsweb";

/** The tags in the head of every page. */
export function Layout({ children }: { readonly children: Markup }) {
  return (
    <>
      <Head>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <meta name="description" content="A room to talk in, live: an example of tsweb." />
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f5f4f9" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#131219" />
      </Head>
      {children}
    </>
  );
}

/** A card in the centre of the page. */
export function Card({ heading, children }: { readonly heading: string; readonly children: Markup }) {
  return (
    <main class="middle">
      <section class="card">
        <img src="/favicon.svg" alt="" width="44" height="44" />
        <h1>{heading}</h1>
        {children}
      </section>
    </main>
  );
}

const HEADINGS: Readonly<Record<number, string>> = {
  401: "You have left the room",
  403: "Not allowed",
  404: "Page not found",
};

/** The page for an error: signed out, forbidden, not found, or unexpected. */
export function ErrorPage({ status, message, id }: ErrorPageProps) {
  return (
    <Card heading={HEADINGS[status] ?? "Something went wrong"}>
      <p>{message}</p>
      {status >= 500 && <p class="soft">The server's log contains the details under {id}.</p>}
      <p>
        <a href="/">Back to the start</a>
      </p>
    </Card>
  );
}
