import { isIPv6 } from "node:net";

/**
 * Gives the key under which a client is counted: its address, or of an IPv6 address the first 64
 * bits, since a household or a machine has all that follow to itself.
 */
export function clientKey(address: string): string {
  if (!address.includes(":") || !isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  // What `::` stands for is as many zeros as are missing; only the first four groups count.
  const right = tail ? tail.split(":") : [];
  const width = right.at(-1)?.includes(".") ? right.length + 1 : right.length;
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - width)).fill("0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
