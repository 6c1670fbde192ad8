import { setTimeout as wait } from "node:timers/promises";
import { Head, Later, type Markup, NotFound, page } from "tsweb";
import { Counter } from "../../app/src/counter.tsx";
import { rows } from "../../app/src/rows.ts";

/** How long the part of the slow page takes. */
const PART_MS = 2_000;

/** The layout of these pages. Without an icon, Chromium would request one, which is not what is measured. */
const layout = ({ children }: { readonly children: Markup }) => (
  <main>
    <Head>
      <link rel="icon" href="data:," />
    </Head>
    {children}
  </main>
);

export const orders = page("/navigation", { layout, title: "Orders" }, () => (
  <>
    <h1>Orders</h1>
    <ul>
      {rows.map(({ id, customer }) => (
        <li key={id}>
          <a id={`order-${id}`} href={order.href({ id })}>
            {customer}
          </a>
        </li>
      ))}
    </ul>
  </>
));

export const order = page("/navigation/orders/:id", { layout, title: "Order" }, ({ id }) => {
  const row = rows.find((row) => String(row.id) === id);
  if (!row) throw new NotFound();
  return (
    <>
      <h1>Order {id}</h1>
      <p>
        {row.customer}, {row.city}: {row.total}
      </p>
    </>
  );
});

const count = () => wait(PART_MS, rows.length);

export const slow = page("/navigation/slow", { layout, title: "Figures" }, () => (
  <>
    <h1>Figures</h1>
    <Later fallback={<p>Loading the figures…</p>}>{async () => <p id="figures">{await count()} orders</p>}</Later>
  </>
));

export const counter = page("/navigation/counter", { layout, title: "Counter" }, () => (
  <>
    <h1>Counter</h1>
    <Counter />
  </>
));
