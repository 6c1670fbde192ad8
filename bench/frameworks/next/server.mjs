// The production server of Next, in a server of one's own.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import next from "next";
import { announce } from "../../peers/listen.mjs";

const app = next({ dev: false, dir: fileURLToPath(new URL(".", import.meta.url)) });
await app.prepare();
announce(createServer(app.getRequestHandler()));
