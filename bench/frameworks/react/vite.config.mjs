export default { build: { ssr: "server.jsx" } };
