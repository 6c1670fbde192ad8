import { channel, publish, route, server } from "tsweb";

/** Returns a feed of the measured channel, as a page gets it. */
export const issue_feed = server(() => channel("ticks"));

/** Publishes the JSON of the request. */
export const publish_tick = route("POST /ticks", async (request) => {
  await publish("ticks", await request.json());
  return new Response(null, { status: 204 });
});
