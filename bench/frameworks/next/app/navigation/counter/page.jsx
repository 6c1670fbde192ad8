import { connection } from "next/server";
import { Counter } from "./counter.jsx";

export default async function Page() {
  await connection();
  return (
    <main>
      <h1>Counter</h1>
      <Counter />
    </main>
  );
}
