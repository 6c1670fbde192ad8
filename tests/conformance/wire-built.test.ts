/** The wire: the built server, on the Node that runs the tests. */
import { startBuilt } from "#test/run-tsweb";
import { buildWireApp } from "#test/wire-app";
import { COMMON, socketSite, VARIANTS } from "./wire/index.ts";
import { wireTests } from "./wire.ts";

wireTests("of the built server", async () => {
  const { site } = await buildWireApp();
  const opened: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const server = await startBuilt(site.dir, { ...COMMON, ...VARIANTS[variant] });
      const way = socketSite(server.address);
      opened.push(way, { close: () => server.stop() });
      return way;
    },
    async close() {
      for (const each of opened) await each.close();
      site.remove();
    },
  };
});
