/** The wire: through `app.fetch`, and through the handler for Node's own `http`. */
import { beforeEach, vi } from "vitest";
import { listen } from "#test/listen";
import { buildWireApp } from "#test/wire-app";
import { node } from "../../src/adapters/index.ts";
import { fetchSite, socketSite } from "./wire/index.ts";
import { wireTests } from "./wire.ts";

// What goes wrong on purpose is told to a person at a terminal.
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

wireTests("by app.fetch", async () => {
  const app = await buildWireApp();
  return {
    open: async (variant) => fetchSite(app.open(variant)),
    close: async () => app.site.remove(),
  };
});

wireTests("by app.fetch, below a base", async () => {
  const app = await buildWireApp();
  return {
    open: async (variant) => fetchSite(app.open(variant, "/shop/front"), "/shop/front"),
    close: async () => app.site.remove(),
  };
});

wireTests("by node(app) in http", async () => {
  const app = await buildWireApp();
  const opened: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const server = await listen(node(app.open(variant)));
      const site = socketSite(server.address);
      opened.push(site, server);
      return site;
    },
    async close() {
      for (const each of opened) await each.close();
      app.site.remove();
    },
  };
});
