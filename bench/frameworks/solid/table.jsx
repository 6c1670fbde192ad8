import { For } from "solid-js";

export function Table(props) {
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
        <For each={props.rows}>
          {(row) => (
            <tr class={row.id % 2 === 0 ? "even" : "odd"}>
              <td>
                <a href={`/orders/${row.id}`}>{row.id}</a>
              </td>
              <td>{row.customer}</td>
              <td>{row.city}</td>
              <td class="number">{row.total}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}
