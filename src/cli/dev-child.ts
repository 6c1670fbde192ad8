/**
 * The process of `tsweb dev` that runs Vite and the application. `dev-parent.ts` starts it, with the application's folder
 * and, after a restart, the port.
 */
import { dev } from "./dev.ts";
import { exitWithError } from "./print-error.ts";

const [, , root = ".", port] = process.argv;
if (port !== undefined) process.env.PORT = port;
dev(root).catch(exitWithError);
