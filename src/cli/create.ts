/** The program of the package `create-tsweb`: `npm create tsweb@latest shop` does what `tsweb new shop` does. */
import { createProject } from "./new.ts";
import { detectPackageManager } from "./package-manager.ts";
import { BuildError } from "./project.ts";

const { name } = detectPackageManager(process.env.npm_config_user_agent);

createProject(process.argv.slice(2), name === "npm" ? "npm create tsweb@latest" : `${name} create tsweb`).catch(
  (error: unknown) => {
    console.error(error instanceof BuildError ? error.message : error);
    process.exitCode = 1;
  },
);
