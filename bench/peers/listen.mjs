// Makes a server listen on a free port, and prints its address in the line that the benchmark waits for.
export function announce(server) {
  const print = () => console.log(JSON.stringify({ address: `http://127.0.0.1:${server.address().port}` }));
  if (server.listening) print();
  else server.listen(0, "127.0.0.1", print);
  process.once("SIGTERM", () => process.exit(0));
}
