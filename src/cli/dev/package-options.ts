import { join } from "node:path";
import { normalizePath, type Plugin } from "vite";
import { packageOptionsProblem } from "../build/index.ts";

/**
 * Reports an invalid member of `"tsweb"` in package.json, when the server starts and after each edit of the file. Only
 * `tsweb build` uses these options, so the server continues. The same error is reported once until it is corrected.
 */
export function checkPackageOptions(root: string, log: (message: string) => void): Plugin {
  const file = normalizePath(join(root, "package.json"));
  let reported: string | undefined;
  const check = () => {
    const problem = packageOptionsProblem(root);
    if (problem !== undefined && problem !== reported) log(`\n${problem}\ntsweb build fails until it is corrected.\n`);
    reported = problem;
  };
  return {
    name: "tsweb:check-package-options",
    configureServer({ watcher }) {
      check();
      watcher.on("all", (_event, path) => {
        if (normalizePath(path) === file) check();
      });
    },
  };
}
