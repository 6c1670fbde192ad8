/** The layout of every page, and the error page. */
import { type ErrorPageProps, Head, type Markup, request, session } from "tsweb";
import { allBoards } from "./board/boards.server.ts";
import { board, home } from "./board/pages.server.tsx";
import { Avatar } from "./users/avatar.tsx";
import { profile } from "./users/profile.server.tsx";
import { sign_out } from "./users/sign-in.server.tsx";
import { currentUser } from "./users/users.server.ts";

/** The header with its links, and the content of the page. Its data loads while that of the page loads. */
export async function Layout({ children }: { readonly children: Markup }) {
  const user = await currentUser();
  // A layout protects no data: what it loads is checked here, as in a page.
  const boards = user ? await allBoards() : [];
  return (
    <>
      <Head>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
      </Head>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href={home.href()}>
          <img src="/favicon.svg" alt="" width="28" height="28" /> Team board
        </a>
        <nav aria-label="Boards">
          {boards.map(({ id, name }) => (
            <a
              key={id}
              href={board.href({ id })}
              aria-current={request.path === board.href({ id }) ? "page" : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
        {user && (
          <a class="person" href={profile.href()}>
            <Avatar name={user.name} avatar={user.avatar} /> {user.name}
          </a>
        )}
        {session.user() && (
          <form action={sign_out}>
            <button type="submit">Sign out</button>
          </form>
        )}
      </header>
      <main id="main">{children}</main>
    </>
  );
}

const HEADINGS: Readonly<Record<number, string>> = { 403: "Not allowed", 404: "Page not found" };

export function ErrorPage({ status, message, id }: ErrorPageProps) {
  return (
    <section class="panel">
      <h1>{HEADINGS[status] ?? "Something went wrong"}</h1>
      <p>{message}</p>
      {status === 500 && <p class="soft">The server's log has the details under {id}.</p>}
      <p>
        <a href={home.href()}>Back to the boards</a>
      </p>
    </section>
  );
}
