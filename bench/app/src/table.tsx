/** A row of the measured table. */
interface Row {
  readonly id: number;
  readonly customer: string;
  readonly city: string;
  readonly total: string;
}

/** The fifty rows of the measured page and of its bare peer. */
export const rows: readonly Row[] = Array.from({ length: 50 }, (_, i) => ({
  id: 1000 + i,
  customer: `Customer ${i} & Sons`,
  city: ["Vienna", "Lima", "Osaka"][i % 3] ?? "",
  total: `${(i * 37.5).toFixed(2)} €`,
}));

/** The measured markup. */
export function Table({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Order</th>
          <th>Customer</th>
          <th>City</th>
          <th>Total</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} class={row.id % 2 === 0 ? "even" : "odd"}>
            <td>
              <a href={`/orders/${row.id}`}>{row.id}</a>
            </td>
            <td>{row.customer}</td>
            <td>{row.city}</td>
            <td class="number">{row.total}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
