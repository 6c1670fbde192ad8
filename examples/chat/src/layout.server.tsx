/**
 * What stands around every page, and the page for what cannot be shown.
 */
import { type ErrorPageProps, Head, type Markup } from "tsweb";

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

/** A card in the middle of the page. */
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
  403: "This is not for you",
  404: "There is nothing here",
};

export function Problem({ status, message, id }: ErrorPageProps) {
  return (
    <Card heading={HEADINGS[status] ?? "That went wrong"}>
      <p>{message}</p>
      {status >= 500 && <p class="soft">The server's log has it under {id}.</p>}
      <p>
        <a href="/">To the door</a>
      </p>
    </Card>
  );
}
