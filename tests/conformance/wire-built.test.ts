/** The wire suite over the built server, on the Node that runs the tests. */
import { startBuilt } from "#test/run-tsweb";
import { buildWireProject } from "#test/wire-app";
import { COMMON_ENV, socketTarget, VARIANT_ENV } from "./wire/index.ts";
import { describeWire, type TargetFactory } from "./wire.ts";

/** Returns what starts the built server, with further variables of its environment. */
const startWith = (env: Record<string, string>) => async (): Promise<TargetFactory> => {
  const project = await buildWireProject();
  const resources: { close(): unknown }[] = [];
  return {
    async open(variant) {
      const server = await startBuilt(project.dir, { ...COMMON_ENV, ...VARIANT_ENV[variant], ...env });
      const target = socketTarget(server.address);
      resources.push(target, { close: () => server.stop() });
      return target;
    },
    async close() {
      for (const resource of resources) await resource.close();
      project.remove();
    },
  };
};

describeWire("of the built server", startWith({}));

describeWire("of the built server without its fast ways", startWith({ TSWEB_ORDINARY_HTTP: "all" }), {
  hostDependent: true,
});
