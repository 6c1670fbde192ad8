import { channel, publish, route, server } from "tsweb";

/** Returns a feed of the measured channel, as a page would get it. */
export const feed = server(() => channel("ticks"));

/** Publishes the request's JSON. */
export const say = route("POST /say", async (request) => {
  await publish("ticks", await request.json());
  return new Response(null, { status: 204 });
});
