export function Table({ rows }) {
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
          <tr key={row.id} className={row.id % 2 === 0 ? "even" : "odd"}>
            <td>
              <a href={`/orders/${row.id}`}>{row.id}</a>
            </td>
            <td>{row.customer}</td>
            <td>{row.city}</td>
            <td className="number">{row.total}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
