import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { tsweb } from "tsweb/vite";
import { defineConfig } from "vitest/config";

// Each run has a database of its own, which the migrations create.
const BOARD_DATA = mkdtempSync(`${tmpdir()}/board-`);

export default defineConfig({ plugins: [tsweb()], test: { env: { BOARD_DATA } } });
