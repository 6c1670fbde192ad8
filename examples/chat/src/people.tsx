import type { Person } from "tsweb/browser";
import { Avatar } from "./avatar.tsx";
import { leave } from "./room.server.ts";
import type { Named } from "./room-state.ts";

/** The people in the room, and the button to leave it. */
export function People({ people, userId }: { readonly people: readonly Person<Named>[]; readonly userId: string }) {
  const leaveRoom = async () => {
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
        {people.map(({ id, user, data: { name } }) => (
          <li key={id}>
            <Avatar id={user ?? ""} name={name} />
            <bdi>{name}</bdi> {user === userId && <span class="soft">you</span>}
          </li>
        ))}
      </ul>
      <button class="quiet" type="button" onClick={leaveRoom}>
        Leave
      </button>
    </aside>
  );
}
