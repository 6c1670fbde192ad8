/**
 * The cases of the wire suite that a host can change, over the built server on the newest Node, which is installed first if it is
 * missing. `npm run matrix` runs all cases on every Node.
 */
import { startProgram } from "#test/run-tsweb";
import { installedProgram, NEWEST_NODE } from "#test/runtimes";
import { buildWireProject } from "#test/wire-app";
import { COMMON_ENV, socketTarget, VARIANT_ENV } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

describeWire(
  `of the built server on ${NEWEST_NODE.name}`,
  async () => {
    const [program, project] = await Promise.all([installedProgram(NEWEST_NODE), buildWireProject()]);
    const resources: { close(): unknown }[] = [];
    return {
      async open(variant) {
        const env = { ...COMMON_ENV, ...VARIANT_ENV[variant] };
        const server = await startProgram(program, ["dist/server.mjs"], { dir: project.dir, env });
        const target = socketTarget(server.address);
        resources.push(target, { close: () => server.stop() });
        return target;
      },
      async close() {
        for (const resource of resources) await resource.close();
        project.remove();
      },
    };
  },
  { hostDependent: true },
);
