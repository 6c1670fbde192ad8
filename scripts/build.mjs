// Builds the package: src/ to dist/, file by file, so that stacks and types point where they should.
// With --clean what an earlier build left behind goes first.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
if (process.argv.includes("--clean")) rmSync(`${root}/dist`, { recursive: true, force: true });
const tsc = `${root}/node_modules/typescript/bin/tsc`;
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
process.exit(status ?? 1);
