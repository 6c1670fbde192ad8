import node from "@astrojs/node";
import preact from "@astrojs/preact";
import { defineConfig } from "astro/config";

export default defineConfig({
  output: "server",
  adapter: node({ mode: "middleware" }),
  integrations: [preact()],
  // Astro finds packages to bundle in the package.json of the project, but the packages of all frameworks are in the parent folder.
  vite: { ssr: { noExternal: ["@astrojs/preact"] } },
});
