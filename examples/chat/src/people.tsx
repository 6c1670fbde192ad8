import { Avatar } from "./avatar.tsx";
import type { Person } from "./news.ts";
import { leave } from "./room.server.ts";

/** Who is here, and the way out. */
export function People({ people, me }: { readonly people: readonly Person[]; readonly me: string }) {
  const signOut = async () => {
    await leave();
    location.assign("/");
  };

  return (
    <aside class="people">
      <div class="brand">
        <img src="/favicon.svg" alt="" width="32" height="32" />
        <h1>Lobby</h1>
      </div>
      <h2 id="here">
        Here now <span class="count">{people.length}</span>
      </h2>
      <ul aria-labelledby="here">
        {people.map(({ id, name }) => (
          <li key={id}>
            <Avatar id={id} name={name} />
            <bdi>{name}</bdi> {id === me && <span class="soft">you</span>}
          </li>
        ))}
      </ul>
      <button class="quiet" type="button" onClick={signOut}>
        Leave
      </button>
    </aside>
  );
}
