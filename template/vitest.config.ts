import { tsweb } from "tsweb/vite";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [tsweb()] });
