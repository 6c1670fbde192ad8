import type { Position } from "../backends/index.ts";
import { currentContext, isPrefetch, PUBLISHED, refuseEffect, rejectInQuery } from "../http/index.ts";
import { type PublishArguments, toJson } from "../protocol/index.ts";
import { keysFor } from "../session/index.ts";
import type { AppBus } from "./app-bus.ts";
import { APP_BUS, currentBus } from "./app-registry.ts";
import { checkChannelName } from "./channel.ts";
import { channelTag, laterPosition } from "./feed.ts";

/** The maximum size of a message, in bytes of JSON. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * Publishes a message to every page that has subscribed to a channel. Resolves when the bus has stored the message. Each
 * page with a feed of the channel then receives it once and in order, or is notified of a gap.
 *
 * The order of calls for one channel is kept, also if they are not awaited. Without data, the message is `null`: the channel
 * has changed.
 *
 * Works anywhere on the server. Inside a request, the message goes to the application that handles the request;
 * outside, to the only application of the process. With several, call `app.publish`.
 *
 * @param name 1 to 128 bytes, no control characters
 * @param data anything that a server function may return, at most 64 KiB of JSON; of the type that `Channels` declares for
 *   the name. It may be left out for an undeclared channel, and for one that declares `undefined`, `void` or `null`.
 * @throws TypeError for an invalid name
 * @throws SerializeError for data that cannot be serialised as JSON
 * @throws RangeError for a message that is too large
 * @throws Error if the bus does not confirm the message within 10 seconds: it may or may not be delivered, at most once
 * @throws Error outside a request, if the process has several applications
 * @see docs/protocol.md 10.1
 */
export function publish<Name extends string>(name: Name, ...[data]: PublishArguments<Name>): Promise<void> {
  return publishTo(() => currentBus("publish"), name, data);
}

/** Publishes to a bus of the caller's choice. The bus is opened only for a valid message. */
export function publishTo(findBus: () => AppBus, name: string, data: unknown): Promise<void> {
  const published = send(findBus, name, data);
  // Refused, whether it is awaited or not: any client could cause an unhandled rejection, which ends the process of some hosts.
  const context = currentContext();
  if (context && (context.shared || isPrefetch(context))) published.catch(() => undefined);
  return published;
}

async function send(findBus: () => AppBus, name: string, data: unknown): Promise<void> {
  rejectInQuery("publish()");
  checkChannelName(name, "publish");
  const json = toJson(data, { subject: `publish to ${name}` });
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new RangeError(
      `publish: the message to ${name} has ${bytes} bytes of JSON; the maximum is ${MAX_MESSAGE_BYTES}. ` +
        "Store the data, for example in your database, and publish its id: pages then load it with a server function.",
    );
  }
  refuseEffect("publish()");
  const bus = findBus();
  recordPublished(bus, name, await bus.publish(name, json));
}

/**
 * Records for the response of the current request where the messages of a channel end now: the page that has made the call waits
 * until it has received them.
 *
 * @see docs/protocol.md 3.10
 */
function recordPublished(bus: AppBus, channel: string, position: Position): void {
  const context = currentContext();
  // The page listens to the bus of its own application. A bus of the application may return no position.
  if (context?.get(APP_BUS) !== bus || !position) return;
  const published = context.get(PUBLISHED) ?? new Map<string, Position>();
  const tag = channelTag(keysFor(context.config, "feed"), channel);
  const known = published.get(tag) ?? position;
  published.delete(tag); // the last one is at the end
  context.set(PUBLISHED, published.set(tag, laterPosition(known, position)));
}
