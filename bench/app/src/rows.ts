/** A row of the measured table. */
export interface Row {
  readonly id: number;
  readonly customer: string;
  readonly city: string;
  readonly total: string;
}

/** The fifty rows of the measured page, for all frameworks. */
export const rows: readonly Row[] = Array.from({ length: 50 }, (_, i) => ({
  id: 1000 + i,
  customer: `Customer ${i} & Sons`,
  city: ["Vienna", "Lima", "Osaka"][i % 3] ?? "",
  total: `${(i * 37.5).toFixed(2)} €`,
}));
