import { toJson } from "../protocol/index.ts";
import { checkName } from "./name.ts";
import { currentBus } from "./realtime.ts";

/** The longest message, in bytes of JSON. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * Sends a message to every page that listens to a channel. It resolves when the bus has it: from then
 * on, each page that holds a feed gets it, once and in order, or is told that it cannot.
 *
 * Works anywhere on the server, outside a request too.
 *
 * @param name 1 to 128 bytes, no control characters
 * @param data anything that a server function may return, 64 KiB of JSON at most
 * @throws TypeError for a name that cannot be used
 * @throws SerializeError for data that does not travel as JSON
 * @throws RangeError for a message that is too large
 * @throws Error while the bus is away; then the message may or may not arrive, once at most
 * @see the interface, "Channel message"
 */
export async function publish(name: string, data: unknown): Promise<void> {
  checkName(name, "publish");
  const json = toJson(data);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new RangeError(
      `publish: a message has at most ${MAX_MESSAGE_BYTES} bytes of JSON, and this one ${bytes}. ` +
        "Publish what to look up, and let pages ask for it.",
    );
  }
  await currentBus().publish(name, json);
}
