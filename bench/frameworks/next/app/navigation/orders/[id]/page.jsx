import { notFound } from "next/navigation";
import { connection } from "next/server";
import { rows } from "../../../rows.js";

export default async function Order({ params }) {
  await connection();
  const { id } = await params;
  const row = rows.find((row) => String(row.id) === id);
  if (!row) notFound();
  return (
    <main>
      <h1>Order {id}</h1>
      <p>
        {row.customer}, {row.city}: {row.total}
      </p>
    </main>
  );
}
