import { defineConfig, type Plugin } from "vite";

/** The packages that the panel does not contain: they are installed with tsweb. */
const PACKAGES = [
  ...["@fastify/busboy", "@levischuck/tiny-cbor", "cookie", "rou3"],
  ...["ioredis", "@nats-io/jetstream", "@nats-io/transport-node", "prom-client", "@opentelemetry/api"], // optional
];

/** Changes the build of an application into that of a part of the package: small, and with its files at paths of its own. */
function packagePart(): Plugin {
  return {
    name: "panel:package-part",
    config: (_, { isSsrBuild }) => ({
      build: {
        minify: true,
        sourcemap: false,
        // Apart from Vite's paths in development, which are below that of the panel.
        ...(isSsrBuild ? { rolldownOptions: { external: PACKAGES } } : { assetsDir: "__web/panel" }),
      },
    }),
  };
}

export default defineConfig({ plugins: [packagePart()] });
