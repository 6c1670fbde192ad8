import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConfigError, loadConfig } from "../../config/index.ts";
import { EnvFiles } from "../project/index.ts";
import { errorText } from "./error-log.ts";
import { explainError } from "./explain-error.ts";

const SECRET = "5a".repeat(31);
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tsweb-environment-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** Loads the environment with these files as the development server does, and returns its error as it is shown. */
function failureWith(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const env: Record<string, string | undefined> = { ...process.env };
  new EnvFiles(root, env).load();
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) vi.stubEnv(name, value);
  try {
    loadConfig(process.env, { built: false, projectDir: root });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    error.stack = `${error.stack}\n    at new App (${root}/src/app.ts:11:37)`;
    return explainError(error, root);
  }
  throw new Error("The environment is valid, but the test expects an error.");
}

describe("an invalid environment variable", () => {
  it.each([".env", ".env.local"])("is located in the file that sets it, and in no line of code: %s", (file) => {
    const explained = failureWith({ [file]: "WEB_ORIGIN=shop.example\n" });
    expect(explained).toMatchObject({ location: "", frame: "", stack: "" });
    expect(explained.message).toContain(`\n  WEB_ORIGIN is set in ${file}.`);
    expect(errorText(explained)).not.toContain("src/app.ts");
  });

  it("is located in the environment of the process, which takes precedence over the files", () => {
    vi.stubEnv("WEB_ORIGIN", "shop.example");
    const { message } = failureWith({ ".env": "WEB_ORIGIN=https://other.example\nWEB_ACCESS_LOG=yes\n" });
    expect(message).toContain("\n  WEB_ORIGIN is set in the environment of the process.");
    expect(message).toContain("\n  WEB_ACCESS_LOG is set in .env.");
  });

  it("has no place if it is missing", () => {
    vi.stubEnv("WEB_ENV", "production");
    const { message } = failureWith({});
    expect(message).toMatch(/^WEB_AUTH_SECRET is not set/);
    expect(message).not.toContain("is set in");
  });

  it("is shown without the value of a secret", () => {
    const explained = failureWith({ ".env": `WEB_AUTH_SECRET=${SECRET}\nWEB_AUTH_SECERT=${SECRET}\n` });
    expect(explained.message).toContain("WEB_AUTH_SECRET is set in .env.");
    expect(JSON.stringify(explained)).not.toContain("5a5a");
  });
});
