/**
 * The files of `deploy/`, changed only where a test cannot use them as they are: ports and TLS.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./copy-example.ts";

/** The ports of a proxy and of the two processes behind it. */
export interface ProxyPorts {
  readonly port: number;
  readonly upstreams: readonly number[];
}

/** Returns the text of a file of `deploy/`. */
export function deployFile(name: string): string {
  return readFileSync(join(repository, "deploy", name), "utf8");
}

/** Returns the recipe of nginx, without TLS and the redirect to it. */
export function nginxSite({ port, upstreams }: ProxyPorts): string {
  const [first, second] = upstreams;
  return replaceAll(deployFile("nginx.conf"), [
    [/server \{\n {4}listen 80;[^}]*\}\n/, ""],
    [/ {4}ssl_\w+ .*\n/g, ""],
    [/ {4}listen \[::\]:443 ssl http2;\n/, ""],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${port};`],
    [/127\.0\.0\.1:3001/, `127.0.0.1:${first}`],
    [/127\.0\.0\.1:3002/, `127.0.0.1:${second}`],
  ]);
}

/** Returns the recipe of Caddy, without TLS. The variable `UPSTREAMS` contains the addresses of the processes. */
export function caddySite(port: number): string {
  const site = replaceAll(deployFile("Caddyfile"), [[/^shop\.example \{/m, `http://127.0.0.1:${port} {`]]);
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`;
}

/** @throws Error if the text does not contain one of the patterns */
function replaceAll(text: string, replacements: readonly (readonly [RegExp, string])[]): string {
  return replacements.reduce((result, [pattern, replacement]) => {
    if (result.search(pattern) < 0) throw new Error(`A file of deploy/ does not contain ${pattern}.`);
    return result.replace(pattern, replacement);
  }, text);
}
