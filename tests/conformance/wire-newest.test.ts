/** The wire: the built server, on the newest Node, which is installed where it is not there. */
import { startProgram } from "#test/run-tsweb";
import { NEWEST_NODE, programOf } from "#test/runtimes";
import { buildWireSite } from "#test/wire-app";
import { COMMON, socketSite, VARIANTS } from "./wire/index.ts";
import { wireTests } from "./wire.ts";

wireTests(`of the built server, on ${NEWEST_NODE.name}`, async () => {
  const [program, site] = await Promise.all([programOf(NEWEST_NODE), buildWireSite()]);
  const opened: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const env = { ...COMMON, ...VARIANTS[variant] };
      const server = await startProgram(program, ["dist/server.mjs"], { dir: site.dir, env });
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
