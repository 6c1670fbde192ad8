import { isModernYarn, type PackageManager } from "./package-manager.ts";
import type { Files } from "./templates.ts";

/** The word of `deploy/` that stands for the application: its user, its image, its host name `shop.example`. */
const PLACEHOLDER = /\bshop\b/g;

/** The longest name of a user on Linux. Those of Kubernetes can be longer. */
const MAX_NAME_CHARS = 31;

/** The files that their programs expect in the folder of the project. The others are in its folder `deploy/`. */
const IN_PROJECT_FOLDER: ReadonlySet<string> = new Set(["Dockerfile", ".dockerignore", "compose.yaml"]);

/** What is different in the files of each project. */
export interface DeploymentOptions {
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
    const path = IN_PROJECT_FOLDER.has(file) ? file : `deploy/${file.replace(PLACEHOLDER, deployed)}`;
    const forManager = file === "Dockerfile" ? installWith(text, manager) : text;
    return [path, forManager.replace(PLACEHOLDER, deployed)] as const;
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
