import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { tsweb } from "tsweb/vite";
import { defineConfig } from "vitest/config";

// Each run has a database of its own.
const CHAT_DATABASE_URL = `file:${mkdtempSync(`${tmpdir()}/chat-`)}/chat.db`;

export default defineConfig({ plugins: [tsweb()], test: { env: { CHAT_DATABASE_URL } } });
