import { createHash } from "node:crypto";
import type { HandlerResponse, InboundRequest } from "../http/index.ts";
import type { StaticFiles } from "./static-files.ts";

/** A file that the application makes when it starts. No build can contain it: it follows from the options of `new App`. */
export interface GeneratedFile {
  /** Its path, without the base. It changes with the content. */
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

/** Returns a file whose path has a hash of its content: `/assets/<name>-<hash>.<extension>`. */
export function generateFile(
  name: string,
  extension: string,
  { type, text }: Pick<GeneratedFile, "type" | "text">,
): GeneratedFile {
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
  return { path: `/assets/${name}-${hash}.${extension}`, type, text };
}

/** Returns the style sheet that makes browsers fade from one page to the next. A policy may forbid styles in the document. */
export function transitionStyles(): GeneratedFile {
  const text = "@media (prefers-reduced-motion:no-preference){@view-transition{navigation:auto}}\n";
  return generateFile("transitions", "css", { type: "text/css; charset=utf-8", text });
}

/** Returns files that contain generated ones too. Browsers cache these for a year. */
export function withGeneratedFiles(
  files: StaticFiles | null,
  generated: Readonly<Record<string, GeneratedFile | null>>,
): StaticFiles | null {
  const responses = new Map<string, HandlerResponse>();
  for (const file of Object.values(generated)) {
    if (!file) continue;
    const headers = { "content-type": file.type, "cache-control": "public, max-age=31536000, immutable" };
    responses.set(file.path, { status: 200, headers, body: file.text });
  }
  if (responses.size === 0) return files;
  const find = ({ method }: InboundRequest, path: string) =>
    method === "GET" || method === "HEAD" ? responses.get(path) : undefined;
  return {
    has: (inbound, path) => find(inbound, path) !== undefined || (files?.has(inbound, path) ?? false),
    handle(inbound, path) {
      const response = find(inbound, path);
      return response ? Promise.resolve(response) : (files?.handle(inbound, path) ?? null);
    },
  };
}
