import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openapi } from "../openapi/index.ts";
import { answerWith, loadApp } from "./load-app.ts";

/**
 * Prints the OpenAPI document of an application's functions.
 *
 * @param root the application's folder
 */
export async function printOpenApi(root: string): Promise<void> {
  const document = openapi(await loadApp(root), versionOf(root));
  answerWith(`${JSON.stringify(document, null, 2)}\n`);
}

function versionOf(root: string): string | undefined {
  const file = join(root, "package.json");
  if (!existsSync(file)) return undefined;
  const { version }: { version?: unknown } = JSON.parse(readFileSync(file, "utf8"));
  return typeof version === "string" ? version : undefined;
}
