// Has a server listen on a free port and say where, in the one line that the measurement waits for.
export function announce(server) {
  const say = () => console.log(JSON.stringify({ address: `http://127.0.0.1:${server.address().port}` }));
  if (server.listening) say();
  else server.listen(0, "127.0.0.1", say);
  process.once("SIGTERM", () => process.exit(0));
}
