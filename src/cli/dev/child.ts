/**
 * The process of `tsweb dev` that runs Vite and the application. `index.ts` starts it, with the application's folder
 * and, after a restart, the port.
 */

import { exitWithError } from "../project/index.ts";
import { dev } from "./dev.ts";

const [, , root = ".", port] = process.argv;
if (port !== undefined) process.env.PORT = port;
dev(root).catch(exitWithError);
