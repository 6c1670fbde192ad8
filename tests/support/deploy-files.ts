/**
 * The files of `deploy/`, changed only where a test cannot use them as they are: ports and TLS.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "./certificate.ts";
import { repository } from "./copy-example.ts";

/** What is different in the recipe of nginx when a test uses it. */
export interface NginxSiteOptions {
  readonly port: number;
  /** The ports of the two processes. One process can have both places. */
  readonly upstreams: readonly number[];
  /** The certificate; without one, nginx serves HTTP only. */
  readonly certificate?: Certificate;
}

/** Returns the text of a file of `deploy/`. */
export function deployFile(name: string): string {
  return readFileSync(join(repository, "deploy", name), "utf8");
}

/** Returns the lines of nginx.conf that the recipe names: those outside of `http`. */
export function nginxMainLines(): string {
  const lines = [...deployFile("nginx.conf").matchAll(/^# {5}(\S.*)$/gm)].map(([, line]) => line);
  if (lines.length !== 2) throw new Error("The head of deploy/nginx.conf does not contain two lines of nginx.conf.");
  return lines.join("\n");
}

/** Returns the recipe of nginx, without the redirect from HTTP. */
export function nginxSite({ port, upstreams, certificate }: NginxSiteOptions): string {
  const [first, second = first] = upstreams;
  return replaceAll(deployFile("nginx.conf"), [
    [/server \{\n {4}listen 80;[^}]*\}\n/, ""],
    [/ {4}listen \[::\]:443 ssl http2;\n/, ""],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${port}${certificate ? " ssl http2" : ""};`],
    [/ {4}ssl_certificate .*\n/, certificate ? `    ssl_certificate ${certificate.certificateFile};\n` : ""],
    [/ {4}ssl_certificate_key .*\n/, certificate ? `    ssl_certificate_key ${certificate.keyFile};\n` : ""],
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
