/** The wire suite through `app.fetch`, and through the handler for Node's `http`. */
import { beforeEach, vi } from "vitest";
import { listen } from "#test/listen";
import { buildWireApp } from "#test/wire-app";
import { node } from "../../src/adapters/index.ts";
import { fetchTarget, socketTarget } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

// In development, errors are logged to the console. Many cases cause some.
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

describeWire("through app.fetch", async () => {
  const app = await buildWireApp();
  return {
    open: async (variant) => fetchTarget(app.open(variant)),
    close: async () => app.project.remove(),
  };
});

describeWire("through app.fetch, with a base", async () => {
  const app = await buildWireApp();
  return {
    open: async (variant) => fetchTarget(app.open(variant, "/shop/front"), "/shop/front"),
    close: async () => app.project.remove(),
  };
});

describeWire("through node(app) in an http server", async () => {
  const app = await buildWireApp();
  const resources: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const server = await listen(node(app.open(variant)));
      const target = socketTarget(server.address);
      resources.push(target, server);
      return target;
    },
    async close() {
      for (const resource of resources) await resource.close();
      app.project.remove();
    },
  };
});
