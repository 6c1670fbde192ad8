import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deploymentFiles, deploymentName } from "./files.ts";
import type { PackageManager } from "./package-manager.ts";

const npm: PackageManager = { name: "npm", version: "11.0.0" };

describe("deploymentFiles", () => {
  const template = {
    ".dockerignore": "dist\n",
    Caddyfile: "shop.example {}\n",
    Dockerfile:
      "FROM node\nCOPY package.json package-lock.json *.tgz ./\nRUN npm ci\nCOPY . .\nRUN npm run build\n# of shop\n",
    "compose.yaml": "name: shop\n",
    "shop@.service": "User=shop\nDescription=A workshop\n",
  };

  it("are in the folders in which their programs search them, with the name of the project in paths and texts", () => {
    expect(deploymentFiles(template, { name: "@acme/team", manager: npm })).toEqual({
      ".dockerignore": "dist\n",
      "deploy/Caddyfile": "acme-team.example {}\n",
      Dockerfile: template.Dockerfile.replace("shop", "acme-team"),
      "compose.yaml": "name: acme-team\n",
      "deploy/acme-team@.service": "User=acme-team\nDescription=A workshop\n",
    });
  });

  it.each([
    [
      { name: "pnpm", version: "10.1.0" },
      "RUN npm install --global --force pnpm@10\nCOPY package.json pnpm-lock.yaml pnpm-workspace.yaml* *.tgz ./\n" +
        "RUN pnpm install --frozen-lockfile\nCOPY . .\nRUN pnpm run build\n",
    ],
    [
      { name: "yarn", version: "4.18.1" },
      "RUN npm install --global --force corepack && corepack enable\nCOPY package.json yarn.lock .yarnrc.yml* *.tgz ./\n" +
        "RUN yarn install --immutable\nCOPY . .\nRUN yarn run build\n",
    ],
    [
      { name: "yarn", version: "1.22.22" },
      "RUN npm install --global --force yarn@1\nCOPY package.json yarn.lock *.tgz ./\n" +
        "RUN yarn install --frozen-lockfile\nCOPY . .\nRUN yarn run build\n",
    ],
    [
      { name: "bun", version: "" },
      "RUN npm install --global --force bun@latest\nCOPY package.json bun.lock* *.tgz ./\n" +
        "RUN bun install --frozen-lockfile\nCOPY . .\nRUN bun run build\n",
    ],
  ] as const)("build the image with the package manager %j", (manager, commands) => {
    const { Dockerfile } = deploymentFiles(template, { name: "shop", manager });
    expect(Dockerfile).toBe(`FROM node\n${commands}# of shop\n`);
  });
});

describe("deploymentName", () => {
  it.each([
    ["shop", "shop"],
    ["@acme/shop", "acme-shop"],
    ["shop.example_2", "shop-example-2"],
    ["2-shops", "app-2-shops"],
    ["@日本/", "app"],
    ["a-name-of-more-than-thirty-one-characters", "a-name-of-more-than-thirty-one"],
  ])("of %s is %s", (packageName, name) => {
    expect(deploymentName(packageName)).toBe(name);
  });

  it("is valid for users, host names and Kubernetes, whatever the package is called", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
        expect(deploymentName(text)).toMatch(/^[a-z]([a-z0-9-]{0,29}[a-z0-9])?$/);
      }),
    );
  });
});
