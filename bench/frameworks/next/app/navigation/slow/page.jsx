import { setTimeout as wait } from "node:timers/promises";
import { connection } from "next/server";
import { Suspense } from "react";
import { rows } from "../../rows.js";

async function Figures() {
  await connection();
  await wait(2_000);
  return <p id="figures">{rows.length} orders</p>;
}

export default async function Slow() {
  return (
    <main>
      <h1>Figures</h1>
      <Suspense fallback={<p>Loading the figures…</p>}>
        <Figures />
      </Suspense>
    </main>
  );
}
