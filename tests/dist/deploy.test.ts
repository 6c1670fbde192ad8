/**
 * `tsweb new --deploy` of the packed package: a new project with the files of a deployment, whose Dockerfile builds a server
 * that runs; and the same files for a project that exists.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { repository } from "#test/copy-example";
import { deployFile } from "#test/deploy-files";
import { buildImage, type Image } from "#test/image";
import {
  createEmptyFolder,
  createProject,
  installPacked,
  lockOfInstalled,
  type PackedPackage,
  packRepository,
} from "./fresh-project.ts";

const ADDED = [
  ".dockerignore",
  "Dockerfile",
  "compose.yaml",
  "deploy/Caddyfile",
  "deploy/kubernetes.yaml",
  "deploy/nginx.conf",
];

const folder = createEmptyFolder();
let packed: PackedPackage;
let program: string;

beforeAll(async () => {
  vi.stubEnv("npm_config_prefer_offline", "true");
  chmodSync(folder.dir, 0o755); // for the user of the image
  packed = await packRepository(folder.dir);
  const home = await installPacked(join(folder.dir, "home"), { tsweb: packed });
  program = join(home.dir, "node_modules/tsweb/bin/tsweb.js");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await createProject(folder.dir, new Map()).run("chmod", "-R", "u+w", ".");
  folder.remove();
});

/** Runs `tsweb new` in a folder. */
const runNew = (dir: string, ...args: string[]) =>
  createProject(dir, new Map()).run(process.execPath, program, "new", ...args);

const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));

describe("a new project with --deploy", () => {
  let dir: string;
  let image: Image;

  beforeAll(async () => {
    const output = await runNew(folder.dir, "Team 7", "--deploy", "--no-install");
    dir = join(folder.dir, "Team 7");
    expect(output).toContain("The files of the deployment are for https://team-7.example: replace this name");
    expect(output).toContain(`installs tsweb from ${join(dir, basename(packed.file))}. Keep this file.`);
    const project = createProject(dir, new Map());
    project.write("package-lock.json", await lockOfInstalled()); // npm adds the packages that it does not have
    await project.run("npm", "install", "--package-lock-only", "--no-audit", "--no-fund");
    project.write(".env", "WEB_AUTH_SECRET=0000\n");
    project.write("node_modules/left-over/index.js", "");
    const target = join(folder.dir, "image");
    mkdirSync(target);
    image = await buildImage(dir, target);
  });

  it("has the files that the tests of tsweb use, with its name in place of shop", () => {
    for (const name of ["Caddyfile", "nginx.conf", "kubernetes.yaml"]) {
      const text = deployFile(name);
      expect(text).toContain("shop");
      expect(readFileSync(join(dir, "deploy", name), "utf8")).toBe(text.replaceAll("shop", "team-7"));
    }
    const unit = readFileSync(join(dir, "deploy/team-7@.service"), "utf8");
    expect(unit).toBe(deployFile("shop@.service").replaceAll("shop", "team-7"));
  });

  it("depends on the packed file in its folder, and on the client of Redis in the version that tsweb is tested with", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const { ioredis } = devDependencies;
    expect(manifestOf(dir).dependencies).toEqual({ ioredis, tsweb: `file:${basename(packed.file)}` });
  });

  it("is built without the files that .dockerignore names", () => {
    const build = join(folder.dir, "image/0/app");
    expect(existsSync(join(build, "node_modules/tsweb"))).toBe(true);
    for (const ignored of [".env", "node_modules/left-over"]) expect(existsSync(join(build, ignored))).toBe(false);
  });

  it("is built by the commands of its Dockerfile, and runs as another user in a folder that cannot be written", async () => {
    expect(image.user).toBe(1000);
    expect(readdirSync(image.dir)).toEqual(["dist"]);
    const secret = randomBytes(32).toString("hex");
    const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", WEB_AUTH_SECRET: secret };
    // Only root can run a process as another user; the tests of another user run as one.
    const user = process.getuid?.() === 0 ? { uid: image.user, gid: image.user } : {};
    const start = ([command = "", ...args]: readonly string[]) =>
      spawn(command, args, { cwd: image.dir, env, ...user, stdio: ["ignore", "pipe", "pipe"] });
    const server = start(image.command);
    const exited = once(server, "exit");
    let output = "";
    for (const stream of [server.stdout, server.stderr]) stream.on("data", (data) => (output += data));
    const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? "";
    const check = async () => {
      const command = image.healthcheck.map((argument) => argument.replace("http://127.0.0.1:3000", address()));
      return (await once(start(command), "exit"))[0];
    };
    try {
      await expect.poll(() => address() || server.exitCode).not.toBeNull();
      await expect.poll(check, { message: output }).toBe(0);
      expect(await (await fetch(address())).text()).toContain("<h1>team-7</h1>");
    } finally {
      server.kill("SIGTERM");
    }
    expect(await exited, output).toEqual([0, null]);
    expect(await check()).toBe(1);
  });
});

describe("tsweb new --deploy", () => {
  it("adds the files to the project in the current folder, for its package manager, and names what they need", async () => {
    const project = createProject(join(folder.dir, "shop-2"), new Map());
    project.write("package.json", '{ "name": "@acme/shop", "dependencies": { "tsweb": "file:../tsweb.tgz" } }');
    project.write("pnpm-lock.yaml", "");
    const output = await runNew(project.dir, "--deploy");
    for (const file of [...ADDED, "deploy/acme-shop@.service"]) {
      expect(output).toContain(`\n  ${file}\n`);
      expect(readFileSync(join(project.dir, file), "utf8")).not.toMatch(/(?<!acme-)\bshop\b/);
    }
    expect(output).toContain("\nInstall ioredis, which the files need: pnpm add ioredis\n");
    expect(output).toContain("\npackage.json installs tsweb from ../tsweb.tgz, which docker build cannot read. Copy ");
    expect(output).toContain("The files of the deployment are for https://acme-shop.example: ");
    expect(readFileSync(join(project.dir, "Dockerfile"), "utf8")).toContain("\nRUN pnpm install --frozen-lockfile\n");
  });

  it("changes nothing if one of the files exists, and names it", async () => {
    const project = createProject(join(folder.dir, "shop-3"), new Map([["package.json", '{ "name": "shop" }']]));
    project.write("compose.yaml", "mine");
    await expect(runNew(project.dir, "--deploy")).rejects.toThrow(
      "This folder contains compose.yaml already. Nothing was written. Rename or delete this file, and run the command again.",
    );
    await expect(project.run("cat", "Dockerfile")).rejects.toThrow();
    await expect(runNew(folder.dir, "shop-3", "--deploy")).rejects.toThrow(
      "shop-3 contains a project. Nothing was written. To add the files of a deployment to it, run this in its folder: " +
        "tsweb new --deploy",
    );
  });

  it("needs a project, and prints how to create one", async () => {
    const empty = join(folder.dir, "empty");
    mkdirSync(empty);
    await expect(runNew(empty, "--deploy")).rejects.toThrow(
      /contains no package\.json, .* name a folder to create: tsweb new shop --deploy/,
    );
    writeFileSync(join(empty, "package.json"), "{");
    await expect(runNew(empty, "--deploy")).rejects.toThrow(`${join(empty, "package.json")} cannot be read: `);
  });
});
