/**
 * Gives the client's address: the connection's own, or, behind trusted proxies, the one that the
 * outermost of them saw.
 *
 * `X-Forwarded-For` grows to the right, a proxy at a time; what stands further left than the
 * proxies we trust is the client's own claim and is not believed.
 *
 * @param peer the address of the connection
 * @param forwarded the `X-Forwarded-For` header
 * @param trustProxy how many proxies stand in front
 */
export function clientAddress(peer: string, forwarded: string | null, trustProxy: number): string {
  if (trustProxy === 0 || forwarded === null) return plain(peer);
  const hops = forwarded.split(",").map((hop) => hop.trim());
  const claimed = hops[Math.max(0, hops.length - trustProxy)] ?? "";
  return claimed === "" ? plain(peer) : plain(claimed);
}

/** An IPv4 address in IPv6 clothes is the same client. */
function plain(address: string): string {
  const bare = withoutPort(address);
  return bare.startsWith("::ffff:") && bare.includes(".") ? bare.slice(7) : bare;
}

/**
 * Some proxies write the port too. It is another for each connection: each would be a client of its own, with
 * calls of its own.
 */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}
