import type { ResolvedConfig, UserConfig } from "vite";
import { describe, expect, it } from "vitest";
import { fixOptions, ignoredOptionMessages, misspelledOptionMessages } from "./config-errors.ts";

it("an option whose name is similar to one of Vite is named with the right one", () => {
  const config = { plugin: [], define: {}, test: {}, nitro: {}, resolv: {} };
  expect(misspelledOptionMessages(config)).toEqual([
    "Unknown option plugin, which Vite ignores. Did you mean plugins?",
    "Unknown option resolv, which Vite ignores. Did you mean resolve?",
  ]);
});

describe("an option of the Vite config that tsweb has in another place", () => {
  it.each<[string, UserConfig, string]>([
    ["server.port", { server: { port: 4000 } }, "Set the environment variable PORT, for example in .env: PORT=4000"],
    ["server.host", { server: { host: true } }, "HOST, for example in .env: HOST=0.0.0.0"],
    ["server.host", { server: { host: "127.0.0.2" } }, "HOST, for example in .env: HOST=127.0.0.2"],
    ["server.host", { server: { host: "a b\nc" } }, "HOST, for example in .env: HOST=0.0.0.0"],
    ["server.open", { server: { open: "/x" } }, "prints the address, and opens no browser"],
    ["server.https", { server: { https: {} } }, "tsweb dev serves HTTP."],
    ["server.proxy", { server: { proxy: { "/api": "http://localhost:1" } } }, "Declare a route(…)"],
    ["server.cors", { server: { cors: true } }, "in the response of a route(…)"],
    ["preview.port", { preview: { port: 4000 } }, "PORT=4000"],
    ["base", { base: "/library/" }, 'Set the option base of new App: new App({ base: "/library", … }).'],
    ["base", { base: "https://cdn.example/library/" }, 'new App({ base: "/library", … })'],
    ["envDir", { envDir: "./config" }, "tsweb dev reads .env and .env.local in the project's folder."],
  ])("is named in development with its replacement: %s", (name, config, replacement) => {
    const messages = ignoredOptionMessages(config, "serve");
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(`${name} has no effect in tsweb. `);
    expect(messages[0]).toContain(replacement);
  });

  it("is named in builds if it concerns them", () => {
    const config = {
      base: "/a",
      envDir: "./config",
      server: { port: 1 },
      preview: { port: 1 },
      build: { outDir: "out" },
    };
    expect(ignoredOptionMessages(config, "build")).toEqual([
      'base has no effect in tsweb. Set the option base of new App: new App({ base: "/a", … }).',
      "build.outDir has no effect in tsweb. tsweb build writes to dist/.",
    ]);
    expect(ignoredOptionMessages({ build: { outDir: "out" } }, "serve")).toEqual([]);
  });

  it.each<UserConfig>([
    {},
    { base: "/" },
    { base: "./" },
    { base: "" },
    { build: { outDir: "./dist/" } },
    { server: { allowedHosts: ["phone.local"], hmr: { overlay: false }, open: false, host: false, cors: false } },
    { define: { A: "1" }, resolve: { alias: { a: "b" } }, envPrefix: "PUBLIC_" },
  ])("is not reported for %j, which has its effect, or none in Vite either", (config) => {
    expect(ignoredOptionMessages(config, "serve")).toEqual([]);
    expect(ignoredOptionMessages(config, "build")).toEqual([]);
  });

  it("is printed once, with the name of the config, whenever Vite restarts", () => {
    const lines: string[] = [];
    const { config, configResolved } = fixOptions({ base: "/__web/" }, (line) => lines.push(line));
    const run = (user: UserConfig) => {
      const hook = typeof config === "object" ? config.handler : config;
      const result: unknown = Reflect.apply(hook ?? (() => null), {}, [
        user,
        { command: "serve", mode: "development" },
      ]);
      if (typeof configResolved !== "function") throw new Error("There is no hook.");
      const resolved: Partial<ResolvedConfig> = { configFile: "/app/vite.config.ts" };
      Reflect.apply(configResolved, {}, [resolved]);
      return result;
    };
    expect(run({ server: { port: 1 } })).toEqual({ base: "/__web/" });
    run({ server: { port: 1 } });
    expect(lines).toEqual([
      "vite.config.ts: server.port has no effect in tsweb. Set the environment variable PORT, for example in .env: PORT=1",
    ]);
    run({ server: { port: 2 } });
    expect(lines).toHaveLength(2);
  });
});
