/**
 * The pages: the door, and the room behind it.
 */
import { channel, page, redirect, session } from "tsweb";
import { Enter } from "./enter.tsx";
import { Card } from "./layout.server.tsx";
import { before } from "./messages.server.ts";
import { all } from "./people.server.ts";
import { here, ROOM } from "./room.server.ts";
import { Room } from "./room.tsx";

export const door = page("/", { title: "Come in" }, () => {
  if (session.user()) return redirect("/room");
  return (
    <Card heading="Come in">
      <p class="soft">Say who you are, and you are in the lobby with everybody else who is there now.</p>
      <Enter />
      <NoScript />
    </Card>
  );
});

export const room = page("/room", async () => {
  const user = session.user();
  if (!user) return redirect("/");
  await here();
  const [feed, start] = await channel(ROOM, async () => ({ ...(await before()), people: await all() }));
  return (
    <main class="room">
      <Room feed={feed} me={user.sub} name={user.name} {...start} />
      <NoScript />
    </main>
  );
});

function NoScript() {
  return (
    <noscript>
      <p class="notice">Talking here needs JavaScript, which your browser has switched off.</p>
    </noscript>
  );
}
