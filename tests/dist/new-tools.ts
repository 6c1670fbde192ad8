/**
 * The programs of `npm run matrix -- new`: package managers, compilers and linters. They are installed outside of the
 * repository's own packages, because only this command needs them.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";
import { checkDefinitions } from "./tsserver.ts";

const TOOLS = join(repository, "node_modules/.cache/tsweb-new-tools");

const PACKAGES: Readonly<Record<string, string>> = {
  pnpm: "^12",
  "@yarnpkg/cli-dist": "^4",
  bun: "^1",
  // typescript-eslint uses the compiler with the plain name; projects have TypeScript 7.
  typescript: "~5.9",
  "typescript-6": "npm:typescript@^6",
  eslint: "^10",
  "typescript-eslint": "^8",
};

/** Runs a program in a folder. Rejects with all of its output if it fails. */
export type RunTool = (dir: string, program: string, ...args: string[]) => Promise<void>;

/** Installs the programs if they are missing. @returns a function that runs one of them, or npm */
export async function installTools(): Promise<RunTool> {
  // Variables of the npm command that runs the matrix would change what the programs do.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^npm_config_user_agent$|^NODE_ENV$/.test(name)),
  );
  const path = `${join(TOOLS, "node_modules/.bin")}${delimiter}${process.env.PATH}`;
  const run: RunTool = async (dir, program, ...args) => {
    try {
      await promisify(execFile)(program, args, { cwd: dir, env: { ...env, PATH: path }, maxBuffer: 64 * 1024 * 1024 });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // execFile's own fields
      throw new Error(`${program} ${args.join(" ")} failed in ${dir}:\n${stdout}${stderr}`, { cause: error });
    }
  };
  const manifest = `${JSON.stringify({ private: true, dependencies: PACKAGES })}\n`;
  const installed = join(TOOLS, "node_modules/.package-lock.json");
  const isCurrent = existsSync(installed) && readFileSync(join(TOOLS, "package.json"), "utf8") === manifest;
  if (!isCurrent) {
    mkdirSync(TOOLS, { recursive: true });
    writeFileSync(join(TOOLS, "package.json"), manifest);
    await run(TOOLS, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error");
  }
  writeFileSync(join(TOOLS, "biome.json"), '{ "root": true, "linter": { "rules": { "preset": "recommended" } } }\n');
  for (const preset of ["strict", "strictTypeChecked"] as const) {
    writeFileSync(join(TOOLS, `${preset}.mjs`), eslintConfig(preset));
  }
  return run;
}

/** Event handlers may be async functions, as typescript-eslint recommends it for JSX. */
const TYPED_OPTIONS = `{
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: process.cwd() } },
  rules: { "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }] },
}`;

/** Returns a configuration of ESLint with the strict rules of typescript-eslint. */
const eslintConfig = (preset: "strict" | "strictTypeChecked") => `
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/**"] },
  tseslint.configs.${preset},
  ${preset === "strict" ? "{}" : TYPED_OPTIONS},
);
`;

/**
 * Returns the steps that check the sources of a project: TypeScript 5.9 and 6, Biome's recommended rules, and
 * typescript-eslint's strict rules.
 *
 * @param isMinimal whether it is the project of `template/`. Those rules that need types apply to it too, and its
 *   "Go to definition" is checked
 */
export function checkSources(run: RunTool, dir: string, isMinimal: boolean): Record<string, () => Promise<void>> {
  const node = (...args: string[]) => run(dir, process.execPath, ...args);
  const tool = (path: string) => join(TOOLS, "node_modules", path);
  const config = join(TOOLS, isMinimal ? "strictTypeChecked.mjs" : "strict.mjs");
  const definitions = {
    "definition 5.9": () => checkDefinitions(tool("typescript"), dir),
    "definition 6": () => checkDefinitions(tool("typescript-6"), dir),
  };
  return {
    "tsc 5.9": () => node(tool("typescript/bin/tsc")),
    "tsc 6": () => node(tool("typescript-6/bin/tsc")),
    biome: () =>
      run(dir, join(repository, "node_modules/.bin/biome"), "lint", `--config-path=${TOOLS}/biome.json`, "src"),
    eslint: () => node(tool("eslint/bin/eslint.js"), "--config", config, "--max-warnings=0", "."),
    ...(isMinimal ? definitions : {}),
  };
}
