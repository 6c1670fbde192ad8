/** The rows of bench/app/src/rows.ts, which Next does not compile outside of its folder. */
export const rows = Array.from({ length: 50 }, (_, i) => ({
  id: 1000 + i,
  customer: `Customer ${i} & Sons`,
  city: ["Vienna", "Lima", "Osaka"][i % 3],
  total: `${(i * 37.5).toFixed(2)} €`,
}));
