import { Hydrated } from "./hydrated.jsx";

export const metadata = { title: "Bench", icons: { icon: "data:," } };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Hydrated />
      </body>
    </html>
  );
}
