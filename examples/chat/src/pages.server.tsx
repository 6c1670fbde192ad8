/** The pages: the form to enter, and the room. */
import { channel, page, redirect, session } from "tsweb";
import { Enter } from "./enter.tsx";
import { Card } from "./layout.server.tsx";
import { listBefore } from "./messages.server.ts";
import { list } from "./people.server.ts";
import { heartbeat, ROOM } from "./room.server.ts";
import { Room } from "./room.tsx";

export const entrance = page("/", { title: "Come in" }, () => {
  if (session.user()) return redirect("/room");
  return (
    <Card heading="Come in">
      <p class="soft">Enter your name to join everybody who is in the lobby now.</p>
      <Enter />
      <NoScript />
    </Card>
  );
});

export const room = page("/room", async () => {
  const user = session.user();
  if (!user) return redirect("/");
  await heartbeat();
  // The feed is created before the data is loaded, so that an event in between is in the feed, in the data, or in both.
  const [feed, initial] = await channel(ROOM, async () => ({ ...(await listBefore()), people: await list() }));
  return (
    <main class="room">
      <Room feed={feed} userId={user.sub} userName={user.name} {...initial} />
      <NoScript />
    </main>
  );
});

function NoScript() {
  return (
    <noscript>
      <p class="notice">The chat needs JavaScript, which is switched off in your browser.</p>
    </noscript>
  );
}
