import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { tsweb } from "tsweb/vite";
import { defineConfig } from "vitest/config";

// Each run has a database of its own.
const ACCOUNTS_DATABASE_URL = `file:${mkdtempSync(`${tmpdir()}/accounts-`)}/accounts.db`;

export default defineConfig({
  plugins: [tsweb()],
  // The hash of a password is slow on purpose.
  test: { env: { ACCOUNTS_DATABASE_URL, WEB_ORIGIN: "http://localhost" }, testTimeout: 30_000 },
});
