import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ConfigProblem, Environment } from "../config/index.ts";

/**
 * Returns a problem for each folder of the environment that this user cannot use. A folder that is missing is created at the
 * start, so its parent has to be writable. Creates and writes nothing.
 *
 * `WEB_DATA_DIR` is used only without `WEB_BUS_URL`.
 */
export function folderProblems(env: Environment): ConfigProblem[] {
  const variables = ["WEB_UPLOAD_DIR", ...(env.WEB_BUS_URL ? [] : ["WEB_DATA_DIR"])];
  return variables.flatMap((variable) => {
    const text = env[variable];
    const reason = text ? unusable(resolve(text)) : undefined;
    if (reason === undefined) return [];
    const fix =
      "Create the folder for the user that runs the application, or set another one. Run this check as that user.";
    return [{ variable, problem: `is a folder that cannot be used: ${reason}.`, fix }];
  });
}

/** Returns why a process of this user cannot write files in a folder, or cannot create it. */
function unusable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is no folder`;
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // of `node:fs`
    if (code === "ENOENT" && dirname(folder) !== folder) return unusable(dirname(folder));
    return message;
  }
}
