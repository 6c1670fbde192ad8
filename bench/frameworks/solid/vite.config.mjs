import solid from "vite-plugin-solid";

// Without the keys of hydration: the table is not interactive, and React's renderToString adds none either.
export default {
  plugins: [solid({ ssr: true, solid: { generate: "ssr", hydratable: false } })],
  build: { ssr: "server.jsx" },
};
