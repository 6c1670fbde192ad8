import { isIPv6 } from "node:net";

/** The maximum length of an address from a header, in characters. An IPv6 address with a zone has at most 62. */
const MAX_ADDRESS_LENGTH = 64;

/**
 * Returns the address of the client: that of the connection or, behind trusted proxies, the address that the outermost
 * trusted proxy received the request from.
 *
 * Each proxy appends one entry to the right of `X-Forwarded-For`. Entries further to the left than the trusted proxies
 * were sent by the client and could be forged, so they are never used. If the header has fewer entries than trusted
 * proxies, the first entry is used. If the entry is empty, the address of the connection is. If the header is missing, the client
 * is not known, and the result is empty: all such requests count as those of one client.
 *
 * The result is a copy. V8 keeps the whole string in memory that a substring was cut from: here a header of up to 16 KB, for
 * as long as a rate limit counts the client. A longer text than an address is cut for the same reason.
 *
 * @param peer the address of the other end of the connection
 * @param forwardedFor the `X-Forwarded-For` header, or `null`
 * @param trustProxy the number of trusted proxies in front of the server, from 0 to 16
 * @see docs/protocol.md 2.8
 */
export function clientAddress(peer: string, forwardedFor: string | null, trustProxy: number): string {
  if (trustProxy === 0) return normalizeAddress(peer);
  if (forwardedFor === null) return "";
  const entries = forwardedFor.split(",").map((entry) => entry.trim());
  const entry = entries[Math.max(0, entries.length - trustProxy)] ?? "";
  if (entry === "") return normalizeAddress(peer);
  return Buffer.from(normalizeAddress(entry).slice(0, MAX_ADDRESS_LENGTH)).toString();
}

/** Returns an address without a port, and an IPv4-mapped IPv6 address as IPv4: all forms mean the same client. */
function normalizeAddress(address: string): string {
  if (!address.includes(":")) return address; // IPv4 without a port
  const host = withoutPort(address);
  return /ffff/i.test(host) && isIPv6(host) ? (mappedIPv4(host) ?? host) : host;
}

/** Returns the IPv4 address that an IPv6 address contains, in any spelling; `null` if it is not an IPv4-mapped one. */
function mappedIPv4(host: string): string | null {
  if (host.includes("%")) return null; // a zone, which `URL` refuses, and which no mapped address has
  const { hostname } = new URL(`http://[${host}]`); // in the canonical form, with hexadecimal groups
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return null;
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join(".");
}

/**
 * Returns an address without its port. Some proxies append the port, which differs for each connection: with it, each
 * connection would count as another client, with a rate limit of its own.
 */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}
