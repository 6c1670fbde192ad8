import { channel, publish, route, server } from "tsweb";

/** What a page would get: a feed of the one measured channel. */
export const feed = server(() => channel("ticks"));

/** Publishes what it is sent. */
export const say = route("POST /say", async (request) => {
  await publish("ticks", await request.json());
  return new Response(null, { status: 204 });
});
