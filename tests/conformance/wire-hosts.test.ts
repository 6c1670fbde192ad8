/**
 * The cases of the wire suite that a host can change, over an application that is mounted below a prefix in Koa, which passes on
 * Node's objects, and in Hono, which passes on `Request` objects, as docs/hosts.md describes it; and mounts that remove the prefix.
 * `npm run matrix -- hosts` adds Elysia and H3.
 *
 * Nitro is a target of `npm run matrix` (matrix.ts), not of `npm test`: it needs 31 MB of packages and a build of its own.
 */
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { HOSTS_DIR, installPackages } from "#test/host-packages";
import { IS_MATRIX } from "#test/matrix";
import { type RunningServer, startNode } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { buildWireProject, wireAppOptions } from "#test/wire-app";
import { type HostComponent, socketTarget, VARIANT_ENV, type Variant } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

let project: TestProject;
beforeAll(async () => {
  [project] = await Promise.all([buildWireProject(), installPackages(HOSTS_DIR)]);
  return () => project.remove();
});

const BASE = "/shop";
const VARIANTS = Object.keys(VARIANT_ENV) as Variant[]; // Object.keys returns string[]

/** Starts a program of the folder of hosts: one process, with a server for each variant. */
async function startHost(program: string, variants: readonly Variant[]) {
  const options = Object.fromEntries(variants.map((variant) => [variant, wireAppOptions(variant, BASE)]));
  const args = ["main.mjs", program, project.file("dist/app.mjs"), JSON.stringify(options)];
  const server = await startNode(HOSTS_DIR, args, { WEB_ENV: "development" });
  await vi.waitFor(() => expect(server.output()).toContain("}\n"), 30_000);
  const addresses: Record<Variant, string> = JSON.parse(server.output());
  return { server, addresses };
}

/** The test of a host does not include its shutdown. */
async function kill(server: RunningServer): Promise<void> {
  server.signal("SIGKILL");
  await server.exited;
}

function describeHost(
  name: string,
  program: string,
  appControlsConnections: boolean,
  hostComponents: readonly HostComponent[] = [],
): void {
  const start = async () => {
    const { server, addresses } = await startHost(program, VARIANTS);
    const targets: { close(): void }[] = [];
    return {
      async open(variant: Variant) {
        const target = socketTarget(addresses[variant], BASE, appControlsConnections);
        targets.push(target);
        return target;
      },
      async close() {
        for (const target of targets) target.close();
        await kill(server);
      },
    };
  };
  describeWire(name, start, { hostComponents, hostDependent: true });
}

describeHost("in Koa, below a prefix", "koa", true);
describeHost("in Hono with @hono/node-server, below a prefix", "hono", false);
if (IS_MATRIX) {
  describeHost("in Elysia, below a prefix", "elysia", false, ["head"]);
  describeHost("in H3, below a prefix", "h3", false);
}

describe("a mount that removes the prefix", () => {
  it.each(IS_MATRIX ? ["hono", "elysia", "h3", "koa"] : ["hono", "koa"])(
    "of %s gets 404 for every path, and the log has the fix",
    async (name) => {
      const { server, addresses } = await startHost(`mounts#${name}`, ["plain"]);
      onTestFinished(() => kill(server));
      for (const path of [BASE, `${BASE}/robots.txt`, `${BASE}/users/1`]) {
        expect((await fetch(addresses.plain + path)).status).toBe(404);
      }
      await expect.poll(() => server.output()).toMatch(/GET \/\S* got 404: the application is served below \/shop/);
      expect(server.output().split("got 404")).toHaveLength(2);
    },
  );

  it("of Hono keeps the prefix and passes the address with both options", async () => {
    const { server, addresses } = await startHost("mounts#honoWithOptions", ["plain"]);
    onTestFinished(() => kill(server));
    expect((await fetch(`${addresses.plain}${BASE}/users/1`)).status).toBe(200);
    expect((await fetch(`${addresses.plain}${BASE}/robots.txt`)).status).toBe(200);
    expect(server.output()).not.toMatch(/got 404|All clients count as one/);
  });
});
