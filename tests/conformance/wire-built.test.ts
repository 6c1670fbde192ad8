/** The wire suite over the built server, on the Node that runs the tests. */
import { startBuilt } from "#test/run-tsweb";
import { buildWireProject } from "#test/wire-app";
import { COMMON_ENV, socketTarget, VARIANT_ENV } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

describeWire("of the built server", async () => {
  const project = await buildWireProject();
  const resources: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const server = await startBuilt(project.dir, { ...COMMON_ENV, ...VARIANT_ENV[variant] });
      const target = socketTarget(server.address);
      resources.push(target, { close: () => server.stop() });
      return target;
    },
    async close() {
      for (const resource of resources) await resource.close();
      project.remove();
    },
  };
});
