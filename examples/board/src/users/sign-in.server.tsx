/** Sign-up, sign-in and sign-out: forms of functions, which need no script. */
import { page, RPCError, redirect, request, server, session } from "tsweb";
import { hash_password, verify_password } from "tsweb/auth";
import { z } from "zod";
import { home } from "../board/pages.server.tsx";
import * as users from "./users.server.ts";

const emailSchema = z.string().trim().toLowerCase().pipe(z.email("Enter an email address, like ada@team.example."));

export const sign_up = server(
  {
    validate: {
      name: z.string().trim().min(1, "Enter your name.").max(60, "Use at most 60 letters."),
      email: emailSchema,
      password: z.string().min(8, "Choose at least 8 characters."),
    },
  },
  async (name: string, email: string, password: string, next?: string) => {
    const user = await users.add({ name, email, password: await hash_password(password) });
    if (!user) throw new RPCError("conflict", "This address is registered already.", { parameter: "email" });
    session.login(user.id);
    return redirect(next, { or: home.href() }); // never leads to another site, whatever `next` is
  },
);

export const sign_in = server(
  { validate: { email: emailSchema } },
  async (email: string, password: string, next?: string) => {
    const user = await users.findByEmail(email);
    // Also for an unknown address: the duration must not reveal which addresses are registered.
    const isRight = await verify_password(password, user?.password ?? "");
    if (!user || !isRight) throw new RPCError("unauthenticated", "Unknown address or wrong password.");
    session.login(user.id);
    return redirect(next, { or: home.href() });
  },
);

export const sign_out = server(() => {
  session.logout();
  return redirect(signing_in.href());
});

/** Returns the path after the sign-in. The link to the other form keeps it. */
function nextPath(): string | undefined {
  const { next } = request.query;
  if (session.user()) throw redirect(next, { or: home.href() });
  return next;
}

export const signing_in = page("/sign-in", { title: "Sign in" }, () => {
  const next = nextPath();
  return (
    <section class="panel">
      <h1>Sign in</h1>
      <form action={sign_in} class="stack">
        <label>
          Email <input name="email" type="email" autocomplete="username" required />
        </label>
        <label>
          Password <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {next && <input type="hidden" name="next" value={next} />}
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
      <p>
        New here? <a href={signing_up.href({}, { query: { next } })}>Create an account</a>
      </p>
    </section>
  );
});

export const signing_up = page("/sign-up", { title: "Sign up" }, () => {
  const next = nextPath();
  return (
    <section class="panel">
      <h1>Create an account</h1>
      <form action={sign_up} class="stack">
        <label>
          Name <input name="name" autocomplete="name" maxLength={60} required />
        </label>
        <label>
          Email <input name="email" type="email" autocomplete="username" required />
        </label>
        <label>
          Password <input name="password" type="password" autocomplete="new-password" minLength={8} required />
        </label>
        {next && <input type="hidden" name="next" value={next} />}
        <button type="submit" class="main">
          Sign up
        </button>
      </form>
      <p>
        Registered already? <a href={signing_in.href({}, { query: { next } })}>Sign in</a>
      </p>
    </section>
  );
});
