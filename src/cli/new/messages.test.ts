import { describe, expect, it } from "vitest";
import { failedInstallation, nextSteps } from "./index.ts";
import type { PackageManager } from "./package-manager.ts";

const npm: PackageManager = { name: "npm", version: "11.0.0" };
const bun: PackageManager = { name: "bun", version: "1.4.5" };

describe("nextSteps", () => {
  it.each([
    ["shop", "cd shop"],
    ["../shop-2", "cd ../shop-2"],
    ["My Shop", "cd 'My Shop'"],
    ["Ada's $HOME", "cd 'Ada'\\''s $HOME'"],
  ])("in the folder %s begin with %s", (path, command) => {
    expect(nextSteps({ path, manager: npm, isInstalled: true })).toContain(`Next:\n\n  ${command}\n  npm run dev\n`);
  });

  it("in the current folder contain no cd", () => {
    expect(nextSteps({ path: "", manager: npm, isInstalled: true })).toContain("Next:\n\n  npm run dev\n");
  });

  it("contain the installation if the packages are not installed", () => {
    expect(nextSteps({ path: "", manager: npm, isInstalled: false })).toContain("  npm install\n  npm run dev\n");
  });

  it("are commands of the package manager that was used", () => {
    const steps = nextSteps({ path: "shop", manager: bun, isInstalled: false });
    expect(steps).toContain("  cd shop\n  bun install\n  bun run dev\n");
    expect(steps).toContain("\nbun run test runs the tests.");
    expect(steps).not.toContain("npm");
  });
});

describe("failedInstallation", () => {
  const steps = { path: "shop", manager: npm };

  it("states that the files are complete, and which commands continue", () => {
    const message = failedInstallation("npm install failed (exit status 1).", {
      ...steps,
      source: { specifier: "^1.0.0", isGuessed: false },
    });
    expect(message).toContain("npm install failed (exit status 1). The files of the project in shop are complete.\n");
    expect(message).toMatch(/and run:\n\n {2}cd shop\n {2}npm install\n {2}npm run dev\n$/);
    expect(message).not.toContain("packed file");
  });

  it("proposes a packed file if the origin of tsweb is not known", () => {
    const source = { specifier: "^1.0.0", isGuessed: true };
    expect(failedInstallation("It failed.", { ...steps, source })).toContain(
      "If tsweb ^1.0.0 is not in the registry, write the packed file of tsweb into package.json:",
    );
  });
});
