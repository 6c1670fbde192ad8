import { readFileSync } from "node:fs";

/** The texts of files, by their names with forward slashes. */
export type Files = Readonly<Record<string, string>>;

/** The templates of `tsweb new`, with their descriptions. The first one is the default. */
export const TEMPLATES = {
  minimal: "a page, a server function, a view, and a test",
  accounts: "registration and sign-in with passwords, passkeys, codes and links; users in a database",
  board: "a team board with forms, drag and drop, live changes and uploads; Drizzle with migrations",
  chat: "a room with live messages, presence and streamed responses",
} as const;

/** The name of a template. */
export type TemplateName = keyof typeof TEMPLATES;

/**
 * Reads the files of a template, which `scripts/build.mjs` has written into one file.
 *
 * @param name `deploy` for the files of a deployment, whose package.json contains only the packages that they need
 */
export function readTemplate(name: TemplateName | "deploy"): Files {
  return JSON.parse(readFileSync(new URL(`../templates/${name}.json`, import.meta.url), "utf8"));
}
