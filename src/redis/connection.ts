import type { Redis } from "ioredis";
import type { Log } from "../logging/index.ts";
import { LazyRedisClient } from "./lazy-client.ts";

/** A part's hold on the connection to a Redis, which it may share with others. */
export interface RedisConnection {
  /** Where it leads, without the name and password: fit for logs. */
  readonly address: string;
  /**
   * Gives the client; the first use of any part makes the connection, and waits until that has
   * succeeded or failed.
   *
   * While Redis is away its commands are refused at once, and those in flight when it went; one that
   * was in flight may have been run all the same. It comes back by itself.
   *
   * @throws ConfigError that says to install ioredis, when it is not installed, or that Redis refuses
   *   the database
   */
  client(): Promise<Redis>;
  /** Lets go of it. The last to do so ends the connection, within half a second. */
  close(): Promise<void>;
}

/** The connections of this process, by their whole address, and how many parts hold each. */
const links = new Map<string, { readonly link: LazyRedisClient; holders: number }>();

/**
 * Gives the connection of this process to a Redis: one for each address, whoever asks.
 *
 * Its loss is logged once, and so is its return, by the log of whoever asked first; neither line
 * holds the name or the password.
 *
 * @param url `redis://…` or `rediss://…`
 * @throws ConfigError for an address whose path is no database's number
 */
export function openRedisConnection(url: string, log: Log): RedisConnection {
  const shared = links.get(url) ?? { link: new LazyRedisClient(url, log), holders: 0 };
  links.set(url, shared);
  shared.holders++;
  let isHeld = true;
  return {
    address: shared.link.address,
    client: () => shared.link.client(),
    async close() {
      if (!isHeld) return;
      isHeld = false;
      shared.holders--;
      if (shared.holders > 0) return;
      links.delete(url);
      await shared.link.close();
    },
  };
}
