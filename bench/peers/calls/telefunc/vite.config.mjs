import { telefunc } from "telefunc/vite";

export default {
  plugins: [telefunc()],
  build: {
    ssr: true,
    rollupOptions: { input: { server: "server.mjs", protected: "protected.mjs" } },
  },
};
