import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  detectPackageManager,
  isModernYarn,
  type PackageManager,
  projectPackageManager,
  translateCommands,
} from "./package-manager.ts";

describe("detectPackageManager", () => {
  it.each([
    ["npm/11.19.1 node/v20.20.2 linux x64 workspaces/false", "npm", "11.19.1"],
    ["pnpm/12.21.0 npm/? node/? linux x64", "pnpm", "12.21.0"],
    ["yarn/4.18.1 npm/? node/v20.20.2 linux x64", "yarn", "4.18.1"],
    ["yarn/1.22.22 npm/? node/v20.20.2 win32 x64", "yarn", "1.22.22"],
    ["bun/1.4.5 npm/? node/v26.3.0 linux x64", "bun", "1.4.5"],
  ])("reads %s", (userAgent, name, version) => {
    expect(detectPackageManager(userAgent)).toEqual({ name, version });
  });

  it.each([undefined, "", "deno/2.0.0", "my-npm/1.0.0"])("returns npm for %j", (userAgent) => {
    expect(detectPackageManager(userAgent)).toEqual({ name: "npm", version: "" });
  });
});

describe("isModernYarn", () => {
  it("is true for Yarn 2 and later, and false for Yarn 1 and other package managers", () => {
    const managers: PackageManager[] = [
      { name: "yarn", version: "4.18.1" },
      { name: "yarn", version: "10.0.0" },
      { name: "yarn", version: "1.22.22" },
      { name: "npm", version: "11.19.1" },
    ];
    expect(managers.map(isModernYarn)).toEqual([true, true, false, false]);
  });
});

describe("translateCommands", () => {
  const pnpm: PackageManager = { name: "pnpm", version: "12.21.0" };
  const bun: PackageManager = { name: "bun", version: "1.4.5" };

  it("replaces commands, and keeps the columns of their comments where there is room", () => {
    const text =
      "npm install\nnpm run dev      # serves\nnpm test         # tests\nnpm start # starts\nA=1 npm start\n";
    expect(translateCommands(text, bun)).toBe(
      "bun install\nbun run dev      # serves\nbun run test     # tests\nbun run start # starts\nA=1 bun run start\n",
    );
  });

  it("removes the -- of npm, which the others pass to the script", () => {
    expect(translateCommands("npm run make-admin -- ada@example.com", pnpm)).toBe(
      "pnpm run make-admin ada@example.com",
    );
  });

  it("keeps commands with options of npm, other words, and the text for npm", () => {
    const text = "npm install --no-save drizzle-kit, npm tests, the npm registry";
    expect(translateCommands(text, pnpm)).toBe(text);
    expect(translateCommands("npm run dev", { name: "npm", version: "" })).toBe("npm run dev");
  });
});

describe("projectPackageManager", () => {
  const agent = "pnpm/10.1.0 npm/? node/v22.1.0 linux x64";
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tsweb-manager-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("is the one that package.json names, before all others", () => {
    writeFileSync(join(dir, "bun.lock"), "");
    expect(projectPackageManager(dir, "yarn@4.18.1+sha224.abc", agent)).toEqual({ name: "yarn", version: "4.18.1" });
  });

  it.each([
    ["package-lock.json", "{}", { name: "npm", version: "" }],
    ["pnpm-lock.yaml", "", { name: "pnpm", version: "10.1.0" }],
    ["bun.lock", "", { name: "bun", version: "" }],
    ["yarn.lock", "# yarn lockfile v1\n", { name: "yarn", version: "1.22.22" }],
    ["yarn.lock", "__metadata:\n  version: 8\n", { name: "yarn", version: "" }],
  ])("is that of the lock file %s, with the version of the running one if it is the same", (file, text, manager) => {
    writeFileSync(join(dir, file), text);
    expect(projectPackageManager(dir, undefined, agent)).toEqual(manager);
  });

  it("is the one that has started the command in a project without a lock file", () => {
    expect(projectPackageManager(dir, undefined, agent)).toEqual({ name: "pnpm", version: "10.1.0" });
    expect(projectPackageManager(dir, "unknown@1.0.0", undefined)).toEqual({ name: "npm", version: "" });
  });
});
