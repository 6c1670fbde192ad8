import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";

/**
 * Returns the key under which a client is counted: the address, or the first 64 bits of an IPv6 address,
 * for example `2001:db8:1:2::/64`. A household or a machine usually has a whole /64 network, and could evade
 * a count by complete address by changing the last 64 bits.
 *
 * @param address a client address (docs/protocol.md 2.8); a text that is not an IP address is its own key
 * @see docs/protocol.md 9.1
 */
export function clientKey(address: string): string {
  if (!address.includes(":") || !isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  // `::` stands for as many groups of zeros as are missing. Only the first four groups are used.
  const right = tail ? tail.split(":") : [];
  const rightGroups = right.at(-1)?.includes(".") ? right.length + 1 : right.length;
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - rightGroups)).fill("0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/**
 * Returns the network of a client key, for comparing groups of clients: the first 48 bits of an IPv6 address, for example
 * `2001:db8:1::/48`, which one customer can have with all its 65,536 client keys. Any other key is its own network.
 */
export function clientNetwork(key: string): string {
  return key.replace(/:[0-9a-f]+::\/64$/, "::/48");
}

/** The bytes of a hash that identify a key: nobody finds two keys with the same one. */
const HASH_BYTES = 16;

/**
 * Returns a key of 22 characters for a text of any length. Stores contain no text of the application, which may be an e-mail
 * address. Any two texts have different keys: UTF-16 also represents unpaired surrogates, which UTF-8 would replace.
 */
export function hashedKey(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest().subarray(0, HASH_BYTES).toString("base64url");
}
