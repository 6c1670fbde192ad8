import { openapi } from "../openapi/index.ts";
import { answerWith, loadApp } from "./load-app.ts";
import { versionOf } from "./project.ts";

/**
 * Prints the OpenAPI document of an application's functions.
 *
 * @param root the application's folder
 */
export async function printOpenApi(root: string): Promise<void> {
  const document = openapi(await loadApp(root), versionOf(root));
  answerWith(`${JSON.stringify(document, null, 2)}\n`);
}
