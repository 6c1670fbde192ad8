import type { EndpointInfo } from "../../src/panel/panel-data.ts";

/** The pages and routes of the application. */
export function Routes({ endpoints }: { readonly endpoints: readonly EndpointInfo[] }) {
  if (endpoints.length === 0) return <p class="soft">The application has no pages and no routes.</p>;
  return (
    <ul class="rows routes" aria-label="Pages and routes">
      {endpoints.map(({ kind, method, path, location }) => (
        <li key={`${method} ${path}`}>
          <span class="tag">{method}</span>
          {method === "GET" && !/[:*]/.test(path) ? (
            <a href={path}>
              <code>{path}</code>
            </a>
          ) : (
            <code>{path}</code>
          )}
          <span class="soft">{kind}</span>
          <code class="soft">{location}</code>
        </li>
      ))}
    </ul>
  );
}
