// The handler that Astro's adapter for Node builds for servers of one's own.
import { createServer } from "node:http";
import { handler } from "../../frameworks/astro/dist/server/entry.mjs";
import { announce } from "../listen.mjs";

announce(createServer(handler));
