/** The program of the package `create-tsweb`: `npm create tsweb@latest shop` does what `tsweb new shop` does. */
import { createProject, detectPackageManager } from "./new/index.ts";
import { BuildError } from "./project/index.ts";

const { name } = detectPackageManager(process.env.npm_config_user_agent);

createProject(process.argv.slice(2), name === "npm" ? "npm create tsweb@latest" : `${name} create tsweb`).catch(
  (error: unknown) => {
    console.error(error instanceof BuildError ? error.message : error);
    process.exitCode = 1;
  },
);
