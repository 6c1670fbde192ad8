import { readFileSync } from "node:fs";
import { join } from "node:path";
import { normalizePath, type Plugin } from "vite";

/**
 * Reports an invalid member of `"tsweb"` in package.json, when the server starts and after each edit of the file. Only
 * `tsweb build` uses these options, so the server continues. The same error is reported once until it is corrected.
 */
export function checkPackageOptions(root: string, log: (message: string) => void): Plugin {
  const file = normalizePath(join(root, "package.json"));
  let reported: string | undefined;
  const check = async () => {
    const problem = await findProblem(root, file);
    if (problem !== undefined && problem !== reported) log(`\n${problem}\ntsweb build fails until it is corrected.\n`);
    reported = problem;
  };
  return {
    name: "tsweb:check-package-options",
    async configureServer({ watcher }) {
      watcher.on("all", (_event, path) => {
        if (normalizePath(path) === file) void check();
      });
      await check();
    },
  };
}

async function findProblem(root: string, file: string): Promise<string | undefined> {
  if (!mayHaveOptions(file)) return undefined;
  const { packageOptionsProblem } = await import("../../build/index.ts"); // slows the start down
  return packageOptionsProblem(root);
}

/** Returns whether package.json has `"tsweb"` in any case, or cannot be read. */
function mayHaveOptions(file: string): boolean {
  try {
    return Object.keys(JSON.parse(readFileSync(file, "utf8"))).some((name) => name.toLowerCase() === "tsweb");
  } catch {
    return true;
  }
}
