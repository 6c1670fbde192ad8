import { openapi } from "../openapi/index.ts";
import { loadApp, printAndExit } from "./load-app.ts";
import { projectInfo } from "./project/index.ts";

/**
 * Prints the OpenAPI document of an application's functions.
 *
 * @param root the application's folder
 */
export async function printOpenApi(root: string): Promise<void> {
  const document = openapi(await loadApp(root), projectInfo(root));
  printAndExit(`${JSON.stringify(document, null, 2)}\n`);
}
