import Link from "next/link";
import { connection } from "next/server";
import { rows } from "../rows.js";

export default async function Orders() {
  await connection(); // rendered for each request, as the others
  return (
    <main>
      <h1>Orders</h1>
      <ul>
        {rows.map(({ id, customer }) => (
          <li key={id}>
            <Link id={`order-${id}`} href={`/navigation/orders/${id}`} prefetch={true}>
              {customer}
            </Link>
          </li>
        ))}
      </ul>
    </main>
  );
}
