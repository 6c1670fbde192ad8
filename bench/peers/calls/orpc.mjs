import { createServer } from "node:http";
import { os } from "@orpc/server";
import { RPCHandler } from "@orpc/server/node";
import { announce } from "../listen.mjs";
import { echoArguments } from "./zod.mjs";

const echo = os.input(echoArguments).handler(({ input: { text, n } }) => ({ text, n }));
const handler = new RPCHandler({ echo });
announce(
  createServer(async (request, response) => {
    const { matched } = await handler.handle(request, response, { context: {} });
    if (!matched) response.writeHead(404).end();
  }),
);
