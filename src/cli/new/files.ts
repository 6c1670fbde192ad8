/** The files of a project that `tsweb new` creates: those of a template, those of a deployment, and how they are written. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError } from "../project/index.ts";
import { isModernYarn, type PackageManager, translateCommands } from "./package-manager.ts";

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

/** The templates' placeholder for the name of the application. */
const PLACEHOLDER = /\bmy-app\b/g;

/** What is different in each project. */
export interface ProjectOptions {
  /** The name of the package. */
  readonly name: string;
  /** The specifier of tsweb for package.json. */
  readonly tsweb: string;
  /** The package manager that the project is used with. */
  readonly manager: PackageManager;
  /** The template of a deployment, if the project contains its files. */
  readonly deployment?: Files;
}

/** Returns the files of a new project. */
export function projectFiles(template: Files, { name, tsweb, manager, deployment = {} }: ProjectOptions): Files {
  const { "package.json": manifest = "{}", ...rest } = template;
  const { "package.json": added = "{}", ...deployed } = deployment;
  const project = JSON.parse(manifest);
  const files = Object.entries(rest).map(([file, text]) => {
    const named = text.replace(PLACEHOLDER, name);
    return [file, file.endsWith(".md") ? translateCommands(named, manager) : named] as const;
  });
  const packageJson = {
    ...project,
    name,
    ...(isModernYarn(manager) && { packageManager: `yarn@${manager.version}` }),
    dependencies: { ...project.dependencies, ...JSON.parse(added).dependencies, tsweb },
  };
  return {
    ...forYarn(Object.fromEntries(files), manager),
    ...deploymentFiles(deployed, { name, manager }),
    // The last one, so that nothing can be installed or run in an unfinished folder.
    "package.json": `${JSON.stringify(packageJson, null, 2)}\n`,
  };
}

/**
 * Adds the files of Yarn 2 and later. Plug'n'Play is not used, because TypeScript 7 cannot resolve packages with it.
 * Without a yarn.lock, Yarn would take the project for a part of a project above it.
 */
function forYarn(files: Files, manager: PackageManager): Files {
  if (!isModernYarn(manager)) return files;
  return {
    ...files,
    ".gitignore": `${files[".gitignore"] ?? ""}.yarn/\n`,
    ".yarnrc.yml": "nodeLinker: node-modules\n",
    "yarn.lock": "",
  };
}

/** The word of `deploy/` that stands for the application: its user, its image, its host name `shop.example`. */
const DEPLOYMENT_PLACEHOLDER = /\bshop\b/g;

/** The longest name of a user on Linux. Those of Kubernetes can be longer. */
const MAX_NAME_CHARS = 31;

/** The files that their programs expect in the folder of the project. The others are in its folder `deploy/`. */
const IN_PROJECT_FOLDER: ReadonlySet<string> = new Set(["Dockerfile", ".dockerignore", "compose.yaml"]);

/** What is different in the files of each project. */
interface DeploymentOptions {
  /** The name of the package. */
  readonly name: string;
  /** The package manager that the image is built with. */
  readonly manager: PackageManager;
}

/**
 * Returns the files with which a project is deployed, by their paths in the project.
 *
 * @param template the files of `deploy/`
 */
export function deploymentFiles(template: Files, { name, manager }: DeploymentOptions): Files {
  const deployed = deploymentName(name);
  const files = Object.entries(template).map(([file, text]) => {
    const path = IN_PROJECT_FOLDER.has(file) ? file : `deploy/${file.replace(DEPLOYMENT_PLACEHOLDER, deployed)}`;
    const forManager = file === "Dockerfile" ? installWith(text, manager) : text;
    return [path, forManager.replace(DEPLOYMENT_PLACEHOLDER, deployed)] as const;
  });
  return Object.fromEntries(files);
}

/**
 * Returns the name of an application in its deployment, which is valid for a user of Linux, in a host name and in Kubernetes:
 * letters, digits and dashes, with a letter at the front.
 *
 * @param packageName the name of the package, such as `@acme/shop`
 */
export function deploymentName(packageName: string): string {
  const name = packageName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "");
  const named = /^[a-z]/.test(name) ? name : `app-${name}`;
  return named.slice(0, MAX_NAME_CHARS).replace(/-+$/, "");
}

/** How an image gets a package manager and the packages. npm is a part of the image. */
interface ImageCommands {
  /** The command that installs the package manager. */
  readonly prepare?: string;
  /** The files that the installation reads, besides package.json and packed files. */
  readonly files: string;
  readonly install: string;
}

/** Replaces npm's commands in a Dockerfile by those of another package manager. */
function installWith(dockerfile: string, manager: PackageManager): string {
  if (manager.name === "npm") return dockerfile;
  const { prepare, files, install } = imageCommands(manager);
  return dockerfile
    .replace("COPY package.json package-lock.json *.tgz", `RUN ${prepare}\nCOPY package.json ${files} *.tgz`)
    .replace("RUN npm ci", `RUN ${install}`)
    .replace("RUN npm run", `RUN ${manager.name} run`);
}

function imageCommands({ name, version }: PackageManager): ImageCommands {
  const [major] = /^\d+/.exec(version) ?? ["latest"];
  const prepare = `npm install --global --force ${name}@${major}`; // --force replaces one that the image contains
  const frozen = `${name} install --frozen-lockfile`;
  switch (name) {
    case "npm":
      return { files: "package-lock.json", install: "npm ci" };
    case "pnpm":
      return { prepare, files: "pnpm-lock.yaml pnpm-workspace.yaml*", install: frozen };
    case "bun":
      return { prepare, files: "bun.lock*", install: frozen };
    case "yarn":
      if (!isModernYarn({ name, version })) return { prepare, files: "yarn.lock", install: frozen };
      return {
        prepare: "npm install --global --force corepack && corepack enable", // it takes the version of package.json
        files: "yarn.lock .yarnrc.yml*",
        install: "yarn install --immutable",
      };
  }
}

/** A folder with only these entries counts as empty: a repository that was just created or cloned. */
const IGNORED: ReadonlySet<string> = new Set([".git"]);

/**
 * Rejects a folder that has entries.
 *
 * @param folder the folder as the message names it
 * @throws BuildError
 */
export function requireEmpty(dir: string, folder: string): void {
  const entries = entriesOf(dir, folder).filter((name) => !IGNORED.has(name));
  if (entries.length === 0) return;
  const [first, more] = [entries.slice(0, 3).join(", "), entries.length - 3];
  throw new BuildError(
    `${folder} is not empty: it contains ${first}${more > 0 ? ` and ${more} more` : ""}. Nothing was written. ` +
      "Choose another folder, or empty this one.",
  );
}

/** Returns the entries of a folder; none when it does not exist. */
function entriesOf(dir: string, folder: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // node:fs throws nothing else
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new BuildError(`${folder} is a file, or is inside one. Choose another folder.`);
    throw new BuildError(`${folder} could not be read: ${message}`);
  }
}

/**
 * Writes files into a folder. It overwrites none.
 *
 * @param advice what to do with the files that were written, if another one cannot be
 * @throws BuildError that names the file that could not be written, and what is left behind
 */
export function writeFiles(dir: string, files: Files, advice: string): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BuildError(`${file} could not be written: ${reason}\n${advice}`);
    }
  }
}
