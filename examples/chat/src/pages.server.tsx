/** The pages: the form to enter, and the room. */
import { channel, page, presence, redirect, session } from "tsweb";
import { Enter } from "./enter.tsx";
import { Card } from "./layout.server.tsx";
import { listBefore } from "./messages.server.ts";
import { ROOM } from "./room.server.ts";
import { Room } from "./room.tsx";
import type { Named } from "./room-state.ts";

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
  const here = await presence<Named>(ROOM, { name: user.name });
  // The feed is created before the data is loaded, so that an event in between is in the feed, in the data, or in both.
  const [feed, initial] = await channel(ROOM, () => listBefore());
  return (
    <main class="room">
      <Room feed={feed} here={here} userId={user.sub} userName={user.name} {...initial} />
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
