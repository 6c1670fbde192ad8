// The handler that SvelteKit's adapter for Node builds for servers of one's own.
import { createServer } from "node:http";
import { handler } from "../../frameworks/sveltekit/build/handler.js";
import { announce } from "../listen.mjs";

announce(createServer(handler));
